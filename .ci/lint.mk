lint:
	@true
C_FILES := $(wildcard src/main.c src/*/*.[ch] src/kernels/level/*.[ch] tests/*/*.[ch])
