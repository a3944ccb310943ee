"""NVRTC 12, for architectures that CUDA 13 no longer compiles for (sm_70).

tests/run.sh installs it from PyPI where nvcc is of CUDA 13; GEMMGEN_NVRTC12 is the folder.
"""

import ctypes
import glob
import os


class Compiler:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        count = ctypes.c_int()
        if self.lib.nvrtcGetNumSupportedArchs(ctypes.byref(count)):
            raise OSError(f"{path}: lists no architectures")
        numbers = (ctypes.c_int * count.value)()
        if self.lib.nvrtcGetSupportedArchs(numbers):
            raise OSError(f"{path}: lists no architectures")
        self.known = {str(n) for n in numbers}

    def _text(self, program, size, get):
        length = ctypes.c_size_t()
        if getattr(self.lib, size)(program, ctypes.byref(length)):
            return b""
        text = ctypes.create_string_buffer(length.value)
        return text.raw if not getattr(self.lib, get)(program, text) else b""

    def compile(self, source, name, arch):
        """(what it says, the cubin, b"" where it fails) of a file's text for "70"."""
        program = ctypes.c_void_p()
        if self.lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None):
            return "nvrtcCreateProgram fails", b""
        options = (ctypes.c_char_p * 2)(f"--gpu-architecture=sm_{arch}".encode(), b"--ptxas-options=-v")
        failed = self.lib.nvrtcCompileProgram(program, 2, options)
        log = self._text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog").rstrip(b"\0").decode()
        cubin = b"" if failed else self._text(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return log, cubin


def find():
    """The compiler, or None where it is not installed."""
    folder = os.environ.get("GEMMGEN_NVRTC12", "")
    found = glob.glob(os.path.join(folder, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")) if folder else []
    return Compiler(found[0]) if found else None
