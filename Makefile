# rocelet: everything is built into build/. `make help` lists the targets.
#
# CC=clang and SAN=1 (AddressSanitizer + UBSan) build into folders of their own.

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
V ?= 0
Q := $(if $(filter 0,$(V)),@,)
SAN ?= 0

VERSION := 0.1.0
B ?= build$(if $(filter clang%,$(CC)),/clang)$(if $(filter 1,$(SAN)),/san)
# Generated headers do not depend on the compiler's flavour.
GEN := build/gen

PKGS := libuv libnl-3.0 libbpf libelf libibverbs libudev libmicrohttpd jansson zlib
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wpointer-arith \
	-Wwrite-strings -Wformat=2 -Wvla -Wundef -Wno-format-nonliteral
HARDEN := -fstack-protector-strong -fPIE -ftrivial-auto-var-init=zero
LDHARDEN := -pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed
ifeq ($(SAN),1)
OPT ?= -O1 -g
HARDEN += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDHARDEN += -fsanitize=address,undefined
else
OPT ?= -O2 -g
HARDEN += -D_FORTIFY_SOURCE=2
endif

CPPFLAGS += -D_GNU_SOURCE -DROCELET_VERSION='"$(VERSION)"' -Iinclude -I$(GEN)
CFLAGS += -std=gnu11 $(OPT) $(WARN) $(HARDEN)
# System headers of the libraries are not ours to warn about.
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) | sed 's/-I/-isystem /g')
PKG_LIBS = $(shell pkg-config --libs $(PKGS)) -lpthread
DIRS := -Ihw -Idaemon -Idaemon/model -Idaemon/kernel -Idaemon/telemetry -Idaemon/serve

BPF_SRC := $(wildcard bpf/*.bpf.c)
SKELS := $(BPF_SRC:bpf/%.bpf.c=$(GEN)/%.skel.h)
SRC := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c hw/*.c))
OBJ := $(SRC:%.c=$(B)/%.o)
LIB := $(B)/librocelet.a
TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
TESTLIB := $(patsubst %.c,$(B)/%.o,$(wildcard tests/lib/*.c))
FUZZ := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(B)/rocelet

$(B)/rocelet: $(B)/daemon/main.o $(LIB)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS)

$(LIB): $(OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/%.o: %.c | $(SKELS)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(DIRS) $(PKG_CFLAGS) -MMD -MP $(CFLAGS) -c $< -o $@

# --- BPF: object -> skeleton -> the C code that loads it ---------------------------------------
BPF_CFLAGS := -g -O2 -Wall -Wextra -Werror -target bpf -I. -Iinclude -Ibpf

$(GEN)/%.bpf.o: bpf/%.bpf.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -isystem /usr/include/$(shell uname -m)-linux-gnu -c $< -o $@

$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< > $@ 2>$(GEN)/bpftool.log || { cat $(GEN)/bpftool.log >&2; exit 1; }

# --- tests ------------------------------------------------------------------------------------
$(B)/tests/%: $(B)/tests/unit/%.o $(TESTLIB) $(LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDHARDEN) -o $@ $^ $(PKG_LIBS) -lcmocka

$(B)/tests/unit/%.o: DIRS += -Itests/lib

tests: $(TESTS)

-include $(OBJ:.o=.d) $(wildcard $(B)/tests/unit/*.d $(B)/tests/lib/*.d $(GEN)/*.d) $(B)/daemon/main.d
.PHONY: all tests
.SECONDARY:
.DELETE_ON_ERROR:
