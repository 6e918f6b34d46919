/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A 32-bit process for the scenario insns, without any library: it enters the
 * kernel by INT 0x80 and through the vDSO, which uses SYSENTER where the processor
 * has it.  It calls functions, and runs code that it made.  INC and DEC of
 * registers are bytes that 64-bit code has as prefixes of the next instruction.
 */
#define NR_GETPID	20
#define NR_MMAP2	192
#define AT_SYSINFO	32
#define PROT_ALL	7
#define MAP_PRIVATE_ANONYMOUS 0x22

	.data
sysinfo:
	.long	0

	.section .rodata
made:				/* what is copied to where it runs */
	movl	$9, %ebx
1:	incl	%eax
	decl	%ebx
	jnz	1b
	ret
	.set	made_bytes, . - made

	.text
	.globl	_start
	.type	_start, @function
_start:
	movl	(%esp), %ecx
	leal	8(%esp, %ecx, 4), %esi
1:	lodsl				/* the environment */
	testl	%eax, %eax
	jnz	1b
2:	lodsl				/* the auxiliary vector: a number, a value */
	movl	%eax, %edx
	lodsl
	cmpl	$AT_SYSINFO, %edx
	je	3f
	testl	%edx, %edx
	jnz	2b
	ud2				/* a kernel without a vDSO for 32-bit programs */
3:	movl	%eax, sysinfo
	movl	$NR_MMAP2, %eax
	xorl	%ebx, %ebx
	movl	$4096, %ecx
	movl	$PROT_ALL, %edx
	movl	$MAP_PRIVATE_ANONYMOUS, %esi
	movl	$-1, %edi
	xorl	%ebp, %ebp
	int	$0x80
	movl	%eax, %ebp
	movl	%eax, %edi
	movl	$made, %esi
	movl	$made_bytes, %ecx
	cld
	rep movsb
round:
	movl	$NR_GETPID, %eax
	int	$0x80
	movl	$20, %edi		/* a ring has many rounds */
1:	incl	%eax
	decl	%ecx
	incl	%ebx
	call	work
	call	*%ebp
	decl	%edi
	jnz	1b
	movl	$NR_GETPID, %eax
	call	*sysinfo
	jmp	round
	.size	_start, . - _start

	.type	work, @function
work:
	incl	%edx
	testb	$1, %dl
	jz	1f
	decl	%ecx
	incl	%ecx
1:	ret
	.size	work, . - work

	.section .note.GNU-stack, "", @progbits
