"""What the generator reads of a header, and what it refuses: header_test"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "capi/generator"))
from abi import document  # noqa: E402
from abi.header import Header, Unknown  # noqa: E402

HEAD = """#define TDM_VERSION_MAJOR 7
#define TDM_VERSION_MINOR 3
/* ----------------------------------------------------------- things */
typedef struct tdm_error tdm_error;
typedef struct tdm_thing tdm_thing;
typedef int32_t tdm_color;
enum { TDM_COLOR_RED = 0, TDM_COLOR_BLUE = -2 /* not now */ };
TDM_API void tdm_thing_free(tdm_thing* thing);
"""


class Reads(unittest.TestCase):
    def header(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "tandem.h"
        path.write_text(HEAD + text, encoding="utf-8")
        return Header(path)

    def parameters(self, declaration):
        return {p.name: p for p in self.header(declaration).functions[-1].parameters}

    def refused(self, text, *words):
        with self.assertRaises(Unknown) as caught:
            self.header(text)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_handle_that_is_read_and_one_that_comes_out(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(const tdm_thing* from, tdm_thing** out);")
        self.assertEqual((p["from"].kind, p["from"].about, p["from"].direction), ("handle", "tdm_thing", "in"))
        self.assertEqual((p["out"].direction, p["out"].owned, p["out"].list), ("out", True, False))

    def test_what_is_borrowed_is_not_to_be_freed(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(TDM_BORROWED tdm_thing** out, const tdm_thing** other);")
        self.assertFalse(p["out"].owned or p["other"].owned)

    def test_lists_and_their_counts(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(tdm_thing* const* things, const char* const* names, size_t count, "
                            "const int64_t* sizes, int64_t ndim, const void* data, size_t data_bytes, tdm_thing** made, "
                            "size_t made_count, TDM_COUNT(count) tdm_thing** others);")
        self.assertEqual([p[n].count for n in ("things", "names", "sizes", "data", "made", "others")],
                         ["count", "count", "ndim", "data_bytes", "made_count", "count"])
        self.assertEqual([p[n].list for n in ("things", "names", "sizes", "data", "made", "others")],
                         [True, True, True, False, True, True])

    def test_one_result_before_anothers_count_is_no_list(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(int64_t* bytes, tdm_thing** out, const double* reals, size_t count);")
        self.assertFalse(p["bytes"].list or p["out"].list)
        self.assertTrue(p["reals"].list)

    def test_null(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(TDM_NULLABLE const char* name, const char* other, "
                            "TDM_NULLABLE_ELEMENTS tdm_thing* const* things, size_t count, void* user_data, "
                            "void (*destroy)(void* user_data));")
        self.assertEqual({n for n in p if p[n].nullable}, {"name", "user_data", "destroy"})
        self.assertEqual({n for n in p if p[n].nullable_elements}, {"things"})

    def test_options(self):
        text = """typedef struct tdm_x_options {
  size_t struct_size;
  int32_t a, b; /* both */
  tdm_color color; /* of it */
} tdm_x_options;
#define TDM_X_OPTIONS_INIT \\
  { sizeof(tdm_x_options), 1, (2 + 3), \\
    TDM_COLOR_RED }
typedef struct tdm_pair { const char* name; double value; } tdm_pair;
TDM_API tdm_error* tdm_f(const tdm_x_options* options);
TDM_API tdm_error* tdm_g(const tdm_pair* options, size_t option_count);
"""
        header = self.header(text.replace("{ const char* name; double value; } tdm_pair", "{\n  const char* name;\n  double value;\n} tdm_pair"))
        [options, pair] = header.structs
        self.assertTrue(options.sized and not pair.sized)
        self.assertEqual([(f.name, f.default, f.documentation) for f in options.fields[1:]],
                         [("a", "1", "both"), ("b", "(2 + 3)", "both"), ("color", "TDM_COLOR_RED", "of it")])
        f, g = header.function("tdm_f").parameters[0], header.function("tdm_g").parameters[0]
        self.assertTrue(f.nullable and not f.list)
        self.assertTrue(g.list and not g.nullable)

    def test_callbacks(self):
        p = self.parameters("TDM_API tdm_error* tdm_f(TDM_CALLED(work) TDM_NULLABLE tdm_error* (*tell)(void* user_data, "
                            "tdm_thing** result, TDM_OPAQUE void* stream), void* user_data);")
        self.assertEqual((p["tell"].called, p["tell"].nullable), ("work", True))
        result, stream = p["tell"].callback.parameters[1:]
        self.assertEqual((result.direction, result.owned), ("out", False), "it stays the callback's")
        self.assertEqual((stream.kind, stream.direction), ("opaque", "in"))
        self.assertEqual(p["tell"].declaration,
                         "tdm_error* (*tell)(void* user_data, tdm_thing** result, void* stream)")
        self.refused("TDM_API tdm_error* tdm_f(tdm_error* (*tell)(void* user_data));", "tell", "TDM_CALLED")
        self.refused("TDM_API tdm_error* tdm_f(TDM_CALLED(tomorrow) tdm_error* (*tell)(void* user_data));", "TDM_CALLED")

    def test_what_is_said_of_functions(self):
        header = self.header('TDM_API TDM_BLOCKS tdm_error* tdm_f(void);\n'
                             'TDM_API TDM_DEPRECATED("0.2", "use tdm_f(void), (really)") TDM_THREAD_SAFE int32_t tdm_g(void);\n')
        f, g = header.functions[-2:]
        self.assertEqual((f.result, f.blocks, f.thread_safe, f.deprecated), ("tdm_error*", True, False, False))
        self.assertEqual((g.result, g.blocks, g.thread_safe, g.deprecated), ("int32_t", False, True, True))

    def test_comments_stand_for_what_follows(self):
        header = self.header("/* Of both. */\nTDM_API int32_t tdm_f(void); /* beside */\nTDM_API int32_t tdm_g(void);\n"
                             "/* ------------------------------------- more */\nTDM_API int32_t tdm_h(void);\n")
        self.assertEqual([(f.documentation, f.section) for f in header.functions[-3:]],
                         [("Of both. beside", "things"), ("Of both.", "things"), ("", "more")])
        self.assertEqual([f.own_comment for f in header.functions[-3:-1]], [True, False])
        header = self.header("/* Of *out and more:\n * *out too. */\nTDM_API int32_t tdm_f(void);\n\nTDM_API int32_t tdm_g(void);\n")
        self.assertEqual([f.documentation for f in header.functions[-2:]], ["Of *out and more: *out too.", ""])

    def test_constants(self):
        header = self.header("enum { TDM_ALONE = 5 };\n")
        self.assertEqual(header.constants, {"TDM_COLOR_RED": 0, "TDM_COLOR_BLUE": -2, "TDM_ALONE": 5})
        self.assertEqual([(e.name, e.type, len(e.constants)) for e in header.enumerations],
                         [("tdm_color", "int32_t", 2), ("", "int", 1)])
        self.assertEqual(header.enumerations[0].constants[1].documentation, "not now")
        self.refused("enum { TDM_A = 1, TDM_B };\n", "number of its own", "TDM_B")

    def test_types_that_are_not_known(self):
        self.refused("TDM_API tdm_error* tdm_f(tdm_other* what);", "tdm_f", "tdm_other")
        self.refused("TDM_API tdm_error* tdm_f(unsigned long what);", "unsigned long")
        self.refused("TDM_API tdm_error* tdm_f(TDM_BORROWED const tdm_thing* what);", "TDM_BORROWED")
        self.refused("TDM_API tdm_error* tdm_f(int32_t a[3]);", "tdm_f")
        self.refused("TDM_API TDM_NULLABLE const char* tdm_f(void);", "tdm_f", "TDM_NULLABLE")
        self.refused("TDM_API unsigned tdm_f(void);", "unsigned")

    def test_what_would_be_passed_over(self):
        self.refused("  TDM_API int32_t tdm_f(void);", "cannot read", "TDM_API int32_t tdm_f(void);")
        self.refused("typedef enum { TDM_A = 1 } tdm_letter;", "typedef enum")
        self.refused("TDM_API int32_t tdm_f(void);\nTDM_API int32_t tdm_f(void);", "tdm_f")
        self.refused("typedef int32_t tdm_letter;\n", "tdm_letter")
        self.refused("#define TDM_Y_OPTIONS_INIT { 0 }\n", "TDM_Y_OPTIONS_INIT")

    def test_annotations_that_mean_nothing(self):
        for wrong in ("TDM_NULLABLE int32_t a", "TDM_INOUT const char* a", "TDM_MAYBE tdm_thing* a", "TDM_CALLED(here) int32_t a",
                      "TDM_BORROWED tdm_thing* a", "TDM_OPAQUE const char* a", "TDM_NULLABLE_ELEMENTS tdm_thing* a", "TDM_COUNT(b) int32_t a, int32_t b"):
            self.refused(f"TDM_API tdm_error* tdm_f({wrong});", wrong.split("(")[0].split()[0], "means nothing")

    def test_lists_without_a_length(self):
        self.refused("TDM_API tdm_error* tdm_f(tdm_thing* const* things, int32_t world_size);", "length of things")
        self.refused("TDM_API tdm_error* tdm_f(const void* data);", "length of data")
        self.refused("TDM_API tdm_error* tdm_f(TDM_COUNT(cuont) const int64_t* sizes, size_t count);", "cuont")
        make = "TDM_API tdm_error* tdm_make(size_t thing_count);\n"
        there = self.header(make + "TDM_API tdm_error* tdm_f(TDM_COUNT(tdm_make::thing_count) tdm_thing** out);")
        self.assertEqual(there.functions[-1].parameters[0].count, "tdm_make::thing_count")
        self.refused(make + "TDM_API tdm_error* tdm_f(TDM_COUNT(tdm_make::count) tdm_thing** out);", "tdm_make::count")
        self.refused("TDM_API tdm_error* tdm_f(tdm_thing* from, TDM_COUNT(from.count) tdm_thing** out);", "from.count")
        p = self.parameters("TDM_API tdm_error* tdm_f(tdm_thing** out, int32_t world_size);")
        self.assertFalse(p["out"].list)

    def test_the_document(self):
        made = document.document(self.header("TDM_API tdm_error* tdm_thing_make(tdm_thing** out);"))
        self.assertEqual(made["version"], "7.3")
        self.assertEqual(made["handles"], [{"name": "tdm_error", "freed_by": None},
                                           {"name": "tdm_thing", "freed_by": "tdm_thing_free"}])
        free, make = made["functions"]
        self.assertEqual(free["frees"], "tdm_thing")
        self.assertEqual((make["fallible"], make["parameters"][0]["freed_by"]), (True, "tdm_thing_free"))
        self.assertEqual(make["result"], {"type": "tdm_error*", "kind": "handle", "about": "tdm_error"})


if __name__ == "__main__":
    unittest.main()
