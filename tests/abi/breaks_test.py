"""Each check of the ABI fails on what it is there for: deliberate breaks of a copy of the header, and of libraries made
from it. What is compatible passes, so that no check fails for a reason of its own.

Environment: CC, CXX, NM; STRUCT_SIZE_TEST, the program of struct_size_test.cpp; READS_PAST, the library of reads_past.c.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import compare
import description
import freeze
import standards
import surface
from header import Header

HERE = pathlib.Path(__file__).resolve().parent
FROZEN = freeze.FROZEN / "0.1"
CC = os.environ["CC"]
LAST_OF_DYNAMIC_LOADER = r"^  int64_t lost_after_ms;[^\n]*\n  int64_t timeout_ms;[^\n]*\n"


class Breaks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.header, self.library = self.folder / "tandem.h", self.folder / "libtandem.so"

    def edit(self, pattern, replacement):
        """A copy of the frozen header with one place changed."""
        text, count = re.subn(pattern, replacement, (FROZEN / "tandem.h").read_text(encoding="utf-8"), flags=re.M | re.S)
        self.assertEqual(count, 1, f"{pattern} is not one place of the header")
        self.header.write_text(text, encoding="utf-8")

    def problems(self, pattern, replacement):
        self.edit(pattern, replacement)
        surface.build(CC, self.header, self.library)
        return compare.compare(CC, FROZEN, self.header, self.library)

    def assert_named(self, problems, *parts):
        """One of the problems has all parts."""
        self.assertTrue(any(all(part in problem for part in parts) for problem in problems),
                        f"{parts} is not said by {problems}")

    def test_additions_pass(self):
        for pattern, replacement in [
                (r"^TDM_API const char\* tdm_version\(void\);", r"\g<0>\nTDM_API tdm_error* tdm_more(int64_t of, double* out);"),
                (r"TDM_ERROR_CALLBACK = 14", r"\g<0>, TDM_ERROR_MORE = 15"),
                (LAST_OF_DYNAMIC_LOADER, r"\g<0>  int64_t more;\n"),
                (r"^  int32_t anomaly;[^\n]*\n", r"\g<0>  int64_t more;\n"),
                (r"^typedef struct tdm_error tdm_error;", r"\g<0>\ntypedef struct tdm_more tdm_more;")]:
            with self.subTest(replacement):
                self.assertEqual(self.problems(pattern, replacement), [])

    def test_a_function_that_is_gone(self):
        problems = self.problems(r"^TDM_API uint64_t tdm_scope_current\(void\);", "")
        self.assert_named(problems, "abidiff", "Removed function", "tdm_scope_current")
        self.assert_named(problems, "does not link", "undefined reference", "tdm_scope_current")

    def test_another_type_of_a_parameter(self):
        problems = self.problems(r"tdm_scope_id\(const tdm_scope\* scope\)", "tdm_scope_id(int32_t scope)")
        self.assert_named(problems, "abidiff", "tdm_scope_id", "parameter 1", "int32_t")

    def test_another_type_of_a_callbacks_parameter(self):
        problems = self.problems(r"tdm_error\* \(\*backward\)\(void\* user_data,", "tdm_error* (*backward)(int32_t user_data,")
        self.assert_named(problems, "tdm_function.backward", "tdm_error* (void*,", "tdm_error* (int32_t,")

    def test_another_result(self):
        problems = self.problems(r"^TDM_API int64_t tdm_live_count", "TDM_API int32_t tdm_live_count")
        self.assert_named(problems, "abidiff", "tdm_live_count", "return type changed")

    def test_another_width_of_an_enumeration(self):
        self.assert_named(self.problems("typedef int32_t tdm_dtype;", "typedef int64_t tdm_dtype;"), "abidiff", "tdm_dtype")

    def test_fields_in_another_order(self):
        problems = self.problems(r"(^  int32_t rank;)(\n  int32_t world_size;)(\n  int32_t global_batch;)", r"\2\1\3")
        self.assert_named(problems, "tdm_loader_options.rank was int32_t at byte 16 and is int32_t at byte 20")

    def test_a_field_in_between(self):
        problems = self.problems(r"^  int32_t cudnn_benchmark;", r"  int64_t between;\n\g<0>")
        self.assert_named(problems, "tdm_cuda_settings.cudnn_benchmark was int32_t at byte 8 and is int32_t at byte 16")

    def test_a_field_that_is_gone(self):
        problems = self.problems(r"^  int32_t anomaly;[^\n]*\n(.*?), 0 \}", r"\1 }")
        self.assert_named(problems, "tdm_modes.anomaly is gone")

    def test_a_struct_that_cannot_grow(self):
        for pattern, name in [(r"^  double scale;           [^\n]*\n", "tdm_field"),
                              (r"^  int32_t index; /\* -1[^\n]*\n", "tdm_device")]:
            self.assert_named(self.problems(pattern, r"\g<0>  int64_t more;\n"), "abidiff", name, "data member insertion")

    def test_a_field_in_what_was_padding(self):
        problems = self.problems(r"^  int32_t anomaly;[^\n]*\n", r"\g<0>  int32_t more;\n")
        self.assert_named(problems, "tdm_modes.more is new at byte 28", "padding", "eight bytes")

    def test_a_struct_that_ends_in_padding(self):
        problems = self.problems(LAST_OF_DYNAMIC_LOADER, r"\g<0>  int32_t more;\n")
        self.assert_named(problems, "tdm_dynamic_loader_options ends in padding")

    def test_a_new_default_that_is_not_zero(self):
        problems = self.problems(f"({LAST_OF_DYNAMIC_LOADER})" r"(.*?), 300000 \}",
                                 r"\1  int64_t more;\n\2, 300000, 3 }")
        self.assert_named(problems, "TDM_DYNAMIC_LOADER_OPTIONS_INIT", "sets a field that is new")

    def test_another_number(self):
        self.assert_named(self.problems("TDM_DTYPE_INT8 = 1,", "TDM_DTYPE_INT8 = 30,"), "TDM_DTYPE_INT8 was 1 and is 30")

    def test_a_constant_that_is_gone(self):
        self.assert_named(self.problems("TDM_DEVICE_CUDA = 1, ", ""), "TDM_DEVICE_CUDA is gone")

    def test_a_macro_that_is_gone(self):
        self.assert_named(self.problems(r"^#define TDM_MODES_INIT \\\n[^\n]*\n", ""), "TDM_MODES_INIT is gone")

    def test_an_enumerator_that_counts_on(self):
        self.edit("TDM_DEVICE_CUDA = 1, ", "TDM_DEVICE_CUDA, ")
        with self.assertRaisesRegex(SystemExit, "number of its own: TDM_DEVICE_CUDA"):
            Header(self.header).constants

    def test_a_library_without_types(self):
        self.edit(r"\A", "")
        surface.build(CC, self.header, self.library)
        subprocess.run(["strip", "--strip-debug", str(self.library)], check=True)
        self.assert_named(compare.compare(CC, FROZEN, self.header, self.library), "types of", "tdm_load,", "without -g")

    def exported(self, extra="", header=FROZEN / "tandem.h"):
        surface.build(CC, header, self.library, extra)
        symbols = self.folder / "symbols.txt"
        symbols.write_text("".join(f"{f.name}\n" for f in Header(FROZEN / "tandem.h").functions), encoding="utf-8")
        ended = subprocess.run([sys.executable, str(HERE / "exported.py"), os.environ["NM"], str(self.library), str(symbols),
                                str(header)], capture_output=True, text=True)
        return ended.returncode, ended.stderr

    def test_a_symbol_too_much_or_too_few(self):
        self.assertEqual(self.exported(), (0, ""))
        status, said = self.exported('__attribute__((visibility("default"))) int tandem_helper(void) { return 0; }\n')
        self.assertEqual(status, 1)
        self.assertIn("tandem_helper", said)
        self.edit(r"^TDM_API uint64_t tdm_scope_current\(void\);", "")
        status, said = self.exported(header=self.header)
        self.assertEqual(status, 1)
        self.assertIn("no longer exported: tdm_scope_current", said)

    def test_what_a_standard_does_not_have(self):
        def said(pattern, replacement):
            self.edit(pattern, replacement)
            return "".join(standards.problems(CC, os.environ["CXX"], self.header))

        self.assertEqual(said(r"\A", ""), "")
        self.assertIn("no c99", said(r"^  \} as;", "  };"))
        self.assertIn("no c++17", said(r"int64_t tdm_live_count\(const char\* type\)", "int64_t tdm_live_count(const char* class)"))
        self.assertIn("no c11", said(r"(#define TDM_MODES_INIT \\\n  \{ sizeof\(tdm_modes\), 1, 0, TDM_UNCHANGED, TDM_UNCHANGED)", r"\1, 0, 0"))

    def test_frozen_files_that_do_not_belong_together(self):
        self.edit(r"^TDM_API uint64_t tdm_scope_current\(void\);", "")
        frozen = self.folder / "frozen/0.1"
        frozen.mkdir(parents=True)
        (frozen / "tandem.h").write_bytes(self.header.read_bytes())
        (frozen / description.NAME).write_bytes((FROZEN / description.NAME).read_bytes())
        said = list(freeze.check(CC, frozen.parent, FROZEN / "tandem.h"))
        self.assert_named(said, "does not describe", "tdm_scope_current")
        self.edit(r"#define TDM_VERSION_MINOR 1", "#define TDM_VERSION_MINOR 2")
        self.assert_named(list(freeze.check(CC, freeze.FROZEN, self.header)), "version 0.2", "freeze.py")

    def test_a_library_that_reads_past_struct_size(self):
        ended = subprocess.run([os.environ["STRUCT_SIZE_TEST"], "--gtest_filter=*OlderProgram*/tdm_recordio_writer_options"],
                               env={**os.environ, "LD_PRELOAD": os.environ["READS_PAST"]}, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("tdm_recordio_writer_options with struct_size 8: touched memory behind it", ended.stderr)


if __name__ == "__main__":
    unittest.main()
