"""Stands in for the native module of `multiprocessing`, which imports and starts no process."""

from lathe_runtime.unavailable import PROCESSES, refusal, refusing

# Packages such as tqdm do without a lock then.
SemLock = refusing("SemLock", PROCESSES, OSError)
SemLock.SEM_VALUE_MAX = 2**31 - 1
sem_unlink = refusal(PROCESSES)
flags = {}
