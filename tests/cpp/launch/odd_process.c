/* odd_process leaderless FILE: a process whose main thread has ended while another runs, and which ignores signals. It
 * writes its number into FILE once that is so.
 * odd_process without-pidfds PROGRAM ARGUMENTS...: becomes the program, for which the system has no pidfd_open. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static char state_of_main_thread(void) {
  char text[512] = "";
  FILE* file = fopen("/proc/self/stat", "r");
  if (!file) return 0;
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end ? name_end[2] : 0;
}

static void* run_on(void* path) {
  while (state_of_main_thread() != 'Z') usleep(1000);
  char part[4096];
  snprintf(part, sizeof part, "%s.part", (const char*)path);
  FILE* file = fopen(part, "w");
  if (!file) return NULL;
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename(part, path);
  for (;;) pause();
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "leaderless") == 0) {
    signal(SIGTERM, SIG_IGN);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_on, argv[2]) != 0) return 1;
    pthread_exit(NULL);
  }
  if (argc > 2 && strcmp(argv[1], "without-pidfds") == 0) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      perror("seccomp");
      return 1;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
  }
  return 1;
}
