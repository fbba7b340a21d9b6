/* The entry of python3.dll, which passes all calls on to the DLL of the version. */

int __stdcall DllMainCRTStartup(void *module, unsigned reason, void *reserved)
{
    (void)module;
    (void)reason;
    (void)reserved;
    return 1;
}
