/* load_program [-l LIBTORCH] [-d DEVICE] [-o LIBRARY] [-c FOLDER] [-t]: loads Tandem and prints "CODE MESSAGE", or
 * "0 VERSION". -o opens a library first, several in their order; -c changes the working directory; -t loads a second
 * time, with other options. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tandem/tandem.h"

static int say(tdm_error* error) {
  const int code = error ? tdm_error_get_code(error) : 0;
  printf("%d %s\n", code, error ? tdm_error_message(error) : tdm_libtorch_version());
  tdm_error_free(error);
  return code;
}

int main(int argc, char** argv) {
  tdm_load_options options = TDM_LOAD_OPTIONS_INIT;
  int twice = 0;
  for (int flag; (flag = getopt(argc, argv, "l:d:o:c:t")) != -1;) {
    if (flag == 'l') options.libtorch = optarg;
    if (flag == 'd') options.device = atoi(optarg);
    if (flag == 'o' && !dlopen(optarg, RTLD_NOW | RTLD_LOCAL)) {
      printf("%s\n", dlerror());
      return 2;
    }
    if (flag == 'c' && chdir(optarg) != 0) return 2;
    if (flag == 't') twice = 1;
  }
  if (tdm_libtorch_version()[0] != '\0' || tdm_live_count("tensor") != 0) return 3;
  int code = say(tdm_load(&options));
  if (twice) {
    say(tdm_load(&options));
    options.libtorch = "/elsewhere";
    say(tdm_load(&options));
    int32_t threads = 0;
    say(tdm_shutdown(1000));
    say(tdm_get_num_threads(&threads));
    say(tdm_load(NULL));
    say(tdm_shutdown(1000));
  }
  return code == 0 ? 0 : 1;
}
