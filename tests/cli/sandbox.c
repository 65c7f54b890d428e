/* sandbox PROGRAM ARGUMENT...: runs it where the kernel refuses files in memory, as sandboxes do; with "sealed" before
 * it, only those that may be executed, as vm.memfd_noexec = 2 does. Exit code 77: there are no such rules here. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOEXEC_SEAL = 8 };

int main(int argc, char **argv)
{
    int sealed = argc > 1 && strcmp(argv[1], "sealed") == 0;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])), /* its lower half: little endian */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, sealed ? NOEXEC_SEAL : 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EACCES & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    if (argc < sealed + 2) return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
    execv(argv[sealed + 1], argv + sealed + 1);
    return 77;
}
