/* A function of Windows 8 and newer that Rust calls for random numbers, and that Wine 8 lacks. */

typedef int BOOL;

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *data, unsigned long length);

__declspec(dllexport) BOOL __stdcall ProcessPrng(unsigned char *data, unsigned long long length)
{
    while (length) {
        unsigned long part = length > 0x10000000 ? 0x10000000 : (unsigned long)length;
        if (!SystemFunction036(data, part))
            return 0;
        data += part;
        length -= part;
    }
    return 1;
}
