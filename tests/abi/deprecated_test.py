"""What a header says that has something deprecated in it: compilers warn of its use, and of nothing else; what is written
from the header takes no notice.

Environment: CC, CXX."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import surface
from header import Header

HEADER = pathlib.Path(__file__).resolve().parents[2] / "capi/include/tandem/tandem.h"
OLD = 'TDM_API TDM_DEPRECATED("0.2", "use tdm_new(int32_t), which tells (more)") tdm_error* tdm_old(int32_t of);\n'
USE = '#include "tandem.h"\nvoid use(void);\nvoid use(void) {{ tdm_error_free({}); }}\n'


class Deprecated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        text = HEADER.read_text(encoding="utf-8")
        place = "TDM_API const char* tdm_version(void);"
        self.assertIn(place, text)
        (self.folder / "tandem.h").write_text(text.replace(place, OLD + place), encoding="utf-8")

    def said(self, call, *options, suffix=".c", compiler=os.environ["CC"]):
        source = self.folder / f"use{suffix}"
        source.write_text(USE.format(call), encoding="utf-8")
        made = subprocess.run([compiler, "-Wall", "-Wextra", "-pedantic", "-I", str(self.folder), *options, "-fsyntax-only",
                               str(source)], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stderr

    def test_its_use_warns(self):
        for suffix, compiler in ((".c", os.environ["CC"]), (".cpp", os.environ["CXX"])):
            said = self.said("tdm_old(1)", suffix=suffix, compiler=compiler)
            self.assertIn("tdm_old", said)
            self.assertIn("since Tandem 0.2: use tdm_new(int32_t), which tells (more)", said)
            self.assertEqual(self.said("tdm_shutdown(1)", suffix=suffix, compiler=compiler), "")

    def test_a_program_may_switch_it_off(self):
        self.assertEqual(self.said("tdm_old(1)", "-DTDM_DEPRECATED(since,instead)="), "")

    def test_it_is_read_as_any_other_function(self):
        header = Header(self.folder / "tandem.h")
        [old] = [f for f in header.functions if f.name == "tdm_old"]
        self.assertEqual((old.result, old.text, old.arguments), ("tdm_error*", "int32_t of", "of"))
        surface.build(os.environ["CC"], header.path, self.folder / "libtandem.so")

    def test_nothing_is_today(self):
        self.assertNotIn("TDM_API TDM_DEPRECATED(", HEADER.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(unittest.main())
