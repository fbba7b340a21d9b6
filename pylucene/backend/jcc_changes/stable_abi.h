/* What JCC's code uses of CPython beyond the stable ABI, made of functions within it.
 *
 * Every file is compiled with this header before it. A macro that JCC should come to use, and
 * that is neither in the stable ABI nor here, is an error of the compiler.
 */

#ifndef _stable_abi_H
#define _stable_abi_H

#include <Python.h>
#include <jni.h>
#include <stdlib.h>

#undef PySequence_Fast_GET_ITEM
#undef PySequence_Fast_GET_SIZE

#define PyBytes_AS_STRING PyBytes_AsString
#define PyBytes_GET_SIZE PyBytes_Size
#define PyFloat_AS_DOUBLE PyFloat_AsDouble
#define PyList_SET_ITEM PyList_SetItem
#define PyLong_AS_LONG PyLong_AsLong
#define PySequence_Fast_GET_SIZE PySequence_Size
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyTuple_GET_SIZE PyTuple_Size
#define PyTuple_SET_ITEM PyTuple_SetItem
#define PyUnicode_AsUTF8(text) PyUnicode_AsUTF8AndSize(text, NULL)
#define PyUnicode_GET_LENGTH PyUnicode_GetLength
#define PyUnicode_READ_CHAR PyUnicode_ReadChar

/* Arrays are also made from other iterators than generators with it. */
#define PyGen_Check PyIter_Check

/* A borrowed reference, as the macro of this name returns. */
static inline PyObject *PySequence_Fast_GET_ITEM(PyObject *sequence, Py_ssize_t n)
{
    return PyList_Check(sequence) ? PyList_GetItem(sequence, n)
                                  : PyTuple_GetItem(sequence, n);
}

static inline void free_memory(PyObject *self)
{
    ((freefunc) PyType_GetSlot(Py_TYPE(self), Py_tp_free))(self);
}

/* An instance of a type that was made at run time owns a reference to it. */
static inline void free_instance(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    free_memory(self);
    Py_DECREF(type);
}

/* The arguments of a call, borrowed: the items of a tuple, or one object that stands alone. */
class Arguments {
private:
    PyObject *few[16];
public:
    PyObject **items;
    unsigned int count;

    Arguments(PyObject *given, bool tuple) : items(few), count(1)
    {
        few[0] = given;
        if (tuple)
        {
            count = (unsigned int) PyTuple_Size(given);
            if (count > sizeof(few) / sizeof(few[0]))
                items = new PyObject *[count];
            for (unsigned int i = 0; i < count; ++i)
                items[i] = PyTuple_GetItem(given, i);
        }
    }
    Arguments(const Arguments&) = delete;
    ~Arguments()
    {
        if (items != few)
            delete[] items;
    }
};

/* A Python string as UTF-16; `units` is NULL, and a Python error is set, without memory for it. */
class Utf16 {
private:
    Py_UCS4 few[128];
    Py_UCS4 *characters;
public:
    jchar *units;
    Py_ssize_t length;

    explicit Utf16(PyObject *text) : characters(few), units(NULL), length(0)
    {
        Py_ssize_t count = PyUnicode_GetLength(text);

        if (count > (Py_ssize_t) (sizeof(few) / sizeof(few[0])))
        {
            characters = (Py_UCS4 *) malloc(count * sizeof(Py_UCS4));
            if (characters == NULL)
            {
                PyErr_NoMemory();
                return;
            }
        }
        if (PyUnicode_AsUCS4(text, characters, count, 0) == NULL)
            return;

        /* In place: no character takes more room as UTF-16 than it took before. */
        units = (jchar *) characters;
        for (Py_ssize_t i = 0; i < count; ++i)
        {
            Py_UCS4 c = characters[i];

            if (c < 0x10000)
                units[length++] = (jchar) c;
            else
            {
                units[length++] = (jchar) ((c >> 10) + 0xd7c0);
                units[length++] = (jchar) ((c & 0x3ff) | 0xdc00);
            }
        }
    }
    Utf16(const Utf16&) = delete;
    ~Utf16()
    {
        if (characters != few)
            free(characters);
    }
};

#endif /* _stable_abi_H */
