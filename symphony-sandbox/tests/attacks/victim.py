"""What an agent must not reach: the processes, sockets and memory of the person who runs it.

Prints one line of JSON with the numbers of what it opened, and ends when its standard input does.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import threading

BASE = sys.argv[1]
LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = b"the victim's secret"
HOME = BASE + "/home"


def serve(listener):
    """Answers each connection with the secret."""

    def loop():
        while True:
            peer, _ = listener.accept()
            peer.sendall(SECRET)
            peer.close()

    listener.listen(16)
    threading.Thread(target=loop, daemon=True).start()


def answer(datagrams):
    def loop():
        while True:
            _, peer = datagrams.recvfrom(100)
            datagrams.sendto(SECRET, peer)

    threading.Thread(target=loop, daemon=True).start()


def unix(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    serve(listener)
    return path


def tcp(family, address):
    listener = socket.socket(family)
    listener.bind((address, 0))
    serve(listener)
    return listener.getsockname()[1]


def checked(result, call):
    if result < 0:
        raise OSError(ctypes.get_errno(), call)
    return result


def shared_memory():
    """A segment, a queue and a set of semaphores of System V, readable by the user alone."""
    shm = checked(LIBC.shmget(0, 4096, 0o1600), "shmget")
    LIBC.shmat.restype = ctypes.c_void_p
    ctypes.memmove(LIBC.shmat(shm, None, 0), SECRET, len(SECRET))
    queue = checked(LIBC.msgget(0, 0o1600), "msgget")
    message = ctypes.create_string_buffer(ctypes.c_long(1).value.to_bytes(8, "little") + SECRET)
    checked(LIBC.msgsnd(queue, message, len(SECRET), 0), "msgsnd")
    semaphores = checked(LIBC.semget(0, 1, 0o1600), "semget")
    return shm, queue, semaphores


def posix_queue():
    name = "/symphony-victim-%d" % os.getpid()
    descriptor = LIBC.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    if descriptor < 0:
        return None, None
    return name, descriptor


def key():
    """A key in the user's keyring."""
    return LIBC.syscall(248, b"user", b"symphony-victim", SECRET, len(SECRET), -4)


def note(number, _frame):
    with open(BASE + "/signalled", "a") as file:
        file.write(signal.Signals(number).name)


for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
    signal.signal(number, note)

os.chdir(BASE + "/secret")
held = open(BASE + "/secret/held")
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
answer(datagrams)
mapped = ctypes.create_string_buffer(SECRET)
abstract = "symphony-victim-%d" % os.getpid()
unix("\0" + abstract)
shm, queue, semaphores = shared_memory()
queue_name, queue_descriptor = posix_queue()
shm_file = "/dev/shm/symphony-victim-%d" % os.getpid()
with open(shm_file, "wb") as file:
    file.write(SECRET)
os.chmod(shm_file, 0o600)
tmp_file = "/tmp/symphony-victim-%d" % os.getpid()
with open(tmp_file, "wb") as file:
    file.write(SECRET)
os.chmod(tmp_file, 0o600)

size = os.statvfs("/dev/shm")
# held open: the master's end makes it last
terminal = os.openpty()

print(
    json.dumps(
        {
            "pid": os.getpid(),
            "descriptor": held.fileno(),
            "address": ctypes.addressof(mapped),
            "secret": SECRET.decode(),
            "tcp": tcp(socket.AF_INET, "127.0.0.1"),
            "tcp6": tcp(socket.AF_INET6, "::1"),
            "udp": datagrams.getsockname()[1],
            "engine": unix(BASE + "/run/engine.sock"),
            "keys": unix(HOME + "/.ssh/agent"),
            "service": unix(BASE + "/state/runs/2/mcp.sock"),
            "abstract": abstract,
            "shm": shm,
            "queue": queue,
            "semaphores": semaphores,
            "posix_queue": queue_name,
            "shm_file": shm_file,
            "tmp_file": tmp_file,
            "key": key(),
            "shm_bytes": size.f_blocks * size.f_frsize,
            "terminal": os.ttyname(terminal[1]),
        }
    ),
    flush=True,
)
sys.stdin.read()
for path in (shm_file, tmp_file):
    os.unlink(path)
LIBC.shmctl(shm, 0, None)
LIBC.msgctl(queue, 0, None)
LIBC.semctl(semaphores, 0, 0)
if queue_name:
    LIBC.mq_unlink(queue_name.encode())
