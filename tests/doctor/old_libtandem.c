/* A libtandem of long ago: it has a release and nothing that the doctor calls. */
__attribute__((visibility("default"))) const char* tdm_version(void);
const char* tdm_version(void) {
  return "0.0.1";
}
