/* failing_disk FOLDER FAILURES MOUNTPOINT: a file system (FUSE) that shows FOLDER, until it is unmounted. Calls whose names the file
 * FAILURES has at that moment (create open read write fsync rename mkdir unlink rmdir readdir; stat: of what is no folder) fail with EIO, as on a disk that is
 * going. */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char* folder;
static const char* failures;

static int result_of(long result) { return result < 0 ? -errno : (int)result; }

/* EIO where the call is to fail; 0 else. */
static int failure_of(const char* call) {
  char text[256] = "";
  const int file = open(failures, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 0;
  for (char* word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
    if (strcmp(word, call) == 0) return -EIO;
  }
  return 0;
}

/* Into a buffer of PATH_MAX. */
static const char* place_of(const char* path, char* place) {
  snprintf(place, PATH_MAX, "%s%s", folder, path);
  return place;
}

#define FAIL_WHERE_ASKED(call)            \
  do {                                    \
    const int failure = failure_of(call); \
    if (failure) return failure;          \
  } while (0)

/* What the kernel keeps of files would hide failures of reading. */
static void* disk_init(struct fuse_conn_info* connection, struct fuse_config* configuration) {
  (void)connection;
  configuration->direct_io = 1;
  return NULL;
}

static int disk_getattr(const char* path, struct stat* status, struct fuse_file_info* info) {
  char place[PATH_MAX];
  (void)info;
  const int result = result_of(lstat(place_of(path, place), status));
  if (result == 0 && !S_ISDIR(status->st_mode)) FAIL_WHERE_ASKED("stat");
  return result;
}

static int disk_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info* info,
                        enum fuse_readdir_flags flags) {
  char place[PATH_MAX];
  (void)offset, (void)info, (void)flags;
  FAIL_WHERE_ASKED("readdir");
  DIR* opened = opendir(place_of(path, place));
  if (!opened) return -errno;
  for (struct dirent* entry; (entry = readdir(opened));) fill(buffer, entry->d_name, NULL, 0, 0);
  closedir(opened);
  return 0;
}

static int disk_mkdir(const char* path, mode_t mode) {
  char place[PATH_MAX];
  FAIL_WHERE_ASKED("mkdir");
  return result_of(mkdir(place_of(path, place), mode));
}

static int disk_unlink(const char* path) {
  char place[PATH_MAX];
  FAIL_WHERE_ASKED("unlink");
  return result_of(unlink(place_of(path, place)));
}

static int disk_rmdir(const char* path) {
  char place[PATH_MAX];
  FAIL_WHERE_ASKED("rmdir");
  return result_of(rmdir(place_of(path, place)));
}

static int disk_rename(const char* from, const char* to, unsigned flags) {
  char place[PATH_MAX], other[PATH_MAX];
  FAIL_WHERE_ASKED("rename");
  return result_of(syscall(SYS_renameat2, AT_FDCWD, place_of(from, place), AT_FDCWD, place_of(to, other), flags));
}

static int disk_chmod(const char* path, mode_t mode, struct fuse_file_info* info) {
  char place[PATH_MAX];
  (void)info;
  return result_of(chmod(place_of(path, place), mode));
}

static int disk_truncate(const char* path, off_t size, struct fuse_file_info* info) {
  char place[PATH_MAX];
  (void)info;
  return result_of(truncate(place_of(path, place), size));
}

static int disk_create(const char* path, mode_t mode, struct fuse_file_info* info) {
  char place[PATH_MAX];
  FAIL_WHERE_ASKED("create");
  const int file = open(place_of(path, place), info->flags | O_CREAT | O_CLOEXEC, mode);
  if (file < 0) return -errno;
  info->fh = (uint64_t)file;
  return 0;
}

static int disk_open(const char* path, struct fuse_file_info* info) {
  char place[PATH_MAX];
  FAIL_WHERE_ASKED("open");
  const int file = open(place_of(path, place), info->flags | O_CLOEXEC);
  if (file < 0) return -errno;
  info->fh = (uint64_t)file;
  return 0;
}

static int disk_read(const char* path, char* data, size_t size, off_t at, struct fuse_file_info* info) {
  (void)path;
  FAIL_WHERE_ASKED("read");
  return result_of(pread((int)info->fh, data, size, at));
}

static int disk_write(const char* path, const char* data, size_t size, off_t at, struct fuse_file_info* info) {
  (void)path;
  FAIL_WHERE_ASKED("write");
  return result_of(pwrite((int)info->fh, data, size, at));
}

static int disk_fsync(const char* path, int data_alone, struct fuse_file_info* info) {
  (void)path, (void)data_alone;
  FAIL_WHERE_ASKED("fsync");
  return result_of(fsync((int)info->fh));
}

static int disk_release(const char* path, struct fuse_file_info* info) {
  (void)path;
  close((int)info->fh);
  return 0;
}

static const struct fuse_operations kOperations = {
    .init = disk_init,     .getattr = disk_getattr,   .readdir = disk_readdir, .mkdir = disk_mkdir, .unlink = disk_unlink,
    .rmdir = disk_rmdir,   .rename = disk_rename,     .chmod = disk_chmod,     .truncate = disk_truncate,
    .create = disk_create, .open = disk_open,         .read = disk_read,       .write = disk_write,
    .fsync = disk_fsync,   .release = disk_release};

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: failing_disk FOLDER FAILURES MOUNTPOINT\n");
    return 2;
  }
  folder = argv[1];
  failures = argv[2];
  char* words[] = {argv[0], "-f", "-s", argv[3], NULL};  /* in this process, one call after the other */
  return fuse_main(4, words, &kOperations, NULL);
}
