import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.custom.CustomAnalyzer;
import org.apache.lucene.analysis.DelegatingAnalyzerWrapper;
import org.apache.lucene.document.BinaryDocValuesField;
import org.apache.lucene.document.DoubleField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.Field.Store;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.KeywordField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Lucene driven from Java: the limit of what a program in another language can get out of it.
 *
 * <p>Writes chunks into an index, and prints the figures as JSON. It reads lines whose columns have
 * tabs between them; benchmarks/engines/texts.py writes them.
 */
public final class PlainLucene {
  private static final double NANOSECONDS = 1e9;

  private PlainLucene() {}

  /**
   * Writes every line of a file, and prints what it took until the index was durable.
   *
   * <pre>
   * FIELDS INDEX BUFFER ANALYZERS RESOURCES
   * </pre>
   */
  public static void main(String[] arguments) throws Exception {
    double processor = processorSeconds();
    // To load dictionaries takes time in Python, too.
    IndexWriterConfig config =
        new IndexWriterConfig(analyzers(Path.of(arguments[3]), Path.of(arguments[4])));
    config.setRAMBufferSizeMB(Double.parseDouble(arguments[2]));
    // Closing the writer waits for merges.
    try (FSDirectory directory = FSDirectory.open(Path.of(arguments[1]));
        IndexWriter writer = new IndexWriter(directory, config);
        BufferedReader reader = Files.newBufferedReader(Path.of(arguments[0]))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        replaceChunk(writer, line.split("\t", -1));
      }
      writer.commit();
    }
    System.out.printf(
        Locale.ROOT,
        "{\"processor_seconds\": %.6f, \"peak_bytes\": %d}%n",
        processorSeconds() - processor,
        peakBytes());
  }

  private static final FieldType WORDS = indexed(IndexOptions.DOCS_AND_FREQS, false);
  private static final FieldType TERMS = indexed(IndexOptions.DOCS, true);

  private static FieldType indexed(IndexOptions options, boolean omitNorms) {
    FieldType type = new FieldType();
    type.setIndexOptions(options);
    type.setOmitNorms(omitNorms);
    type.setTokenized(true);
    type.freeze();
    return type;
  }

  /**
   * Puts a chunk with all fields of shared/storage/mapping.py in place of the one with its id, as
   * shared/writing/index.py does: {@code document, title, language, year, content, chunk, languages,
   * reversed, stems, title_stems, digits, details, fingerprint, stored fingerprint}.
   */
  private static void replaceChunk(IndexWriter writer, String[] columns) throws IOException {
    String document = columns[0];
    String title = columns[1];
    String year = columns[3];
    String content = columns[4];
    List<IndexableField> fields = new ArrayList<>(32);
    fields.add(new TextField("title", title, Store.NO));
    fields.add(new StringField("source_document", document, Store.YES));
    fields.add(new SortedDocValuesField("source_document", new BytesRef(document)));
    fields.add(new KeywordField("metadata.language", columns[2], Store.NO));
    fields.add(new KeywordField("metadata.year", year, Store.NO));
    fields.add(new DoubleField("number.year", Double.parseDouble(year), Store.NO));
    fields.add(new StringField("id", columns[5], Store.YES));
    fields.add(new StoredField("title", title));
    fields.add(new TextField("content", content, Store.YES));
    fields.add(new StringField("languages", columns[6], Store.NO));
    LANGUAGE.set(columns[6]);
    fields.add(new Field("content.reversed", columns[7], TERMS));
    fields.add(new Field("stems", columns[8], WORDS));
    fields.add(new Field("title_stems", columns[9], WORDS));
    if (!columns[10].isEmpty()) {
      fields.add(new Field("digits", columns[10], TERMS));
    }
    fields.add(new IntPoint("chunk_index", 1));
    fields.add(new NumericDocValuesField("chunk_index", 1));
    fields.add(new StoredField("chunk_index", 1));
    fields.add(new StoredField("details", columns[11]));
    for (String term : columns[12].split(" ")) {
      fields.add(new StringField("fingerprint", term, Store.NO));
    }
    BytesRef fingerprint = new BytesRef(Base64.getDecoder().decode(columns[13]));
    fields.add(new BinaryDocValuesField("fingerprint", fingerprint));
    writer.updateDocuments(new Term("source_document", document), List.of(fields));
  }

  /** The language of the stems that a thread writes. */
  private static final ThreadLocal<String> LANGUAGE = new ThreadLocal<>();

  /** The analyzer of a field, for the fields of stems in the language of the chunk. */
  private static final class ByLanguage extends DelegatingAnalyzerWrapper {
    private final Map<String, Analyzer> byField;

    ByLanguage(Map<String, Analyzer> byField) {
      super(PER_FIELD_REUSE_STRATEGY);
      this.byField = byField;
    }

    @Override
    protected Analyzer getWrappedAnalyzer(String field) {
      Analyzer analyzer = byField.get(field);
      return analyzer != null ? analyzer : byField.get(field + ":" + LANGUAGE.get());
    }
  }

  /**
   * The analyzers of fields: each line of the file has a field, and the kind and name of each step,
   * with its parameters as in URLs. Fields with the same steps share an analyzer.
   */
  private static Analyzer analyzers(Path file, Path resources) throws IOException {
    Map<String, Analyzer> bySteps = new HashMap<>();
    Map<String, Analyzer> byField = new HashMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] columns = line.split("\t", 2);
      Analyzer analyzer = bySteps.get(columns[1]);
      if (analyzer == null) {
        analyzer = analyzer(columns[1].split("\t"), resources);
        bySteps.put(columns[1], analyzer);
      }
      byField.put(columns[0], analyzer);
    }
    return new ByLanguage(byField);
  }

  private static Analyzer analyzer(String[] steps, Path resources) throws IOException {
    CustomAnalyzer.Builder builder = CustomAnalyzer.builder(resources);
    for (String step : steps) {
      switch (step.split(" ", 2)[0]) {
        case "char" -> builder.addCharFilter(name(step), parameters(step));
        case "tokens" -> builder.withTokenizer(name(step), parameters(step));
        default -> builder.addTokenFilter(name(step), parameters(step));
      }
    }
    return builder.build();
  }

  private static String name(String step) {
    return step.split(" ", 2)[1].split("\\?", 2)[0];
  }

  private static Map<String, String> parameters(String step) {
    // Lucene's factories take away what they have read.
    Map<String, String> parameters = new HashMap<>();
    String[] parts = step.split("\\?", 2);
    if (!parts[1].isEmpty()) {
      for (String pair : parts[1].split("&")) {
        String[] sides = pair.split("=", 2);
        parameters.put(URLDecoder.decode(sides[0], UTF_8), URLDecoder.decode(sides[1], UTF_8));
      }
    }
    return parameters;
  }

  private static double processorSeconds() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / NANOSECONDS;
  }

  /** The most memory that the process had resident, as Linux counts it. */
  private static long peakBytes() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      String line = lines.filter(each -> each.startsWith("VmHWM:")).findFirst().orElseThrow();
      return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
    }
  }
}
