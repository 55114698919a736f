/* Wine before 9 lacks this library of Windows, which Go's runtime takes random numbers from. */
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length){ return SystemFunction036(buffer, (ULONG)length); }
