package dev.redlock.schedules;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Puts a call of {@link Points} before each access of a class to memory that threads share: fields
 * that are not final, and calls of {@code java.util.concurrent}. Monitors, parking and new threads
 * are replaced by simulated ones.
 */
final class Instrumentation extends ClassVisitor {
  private static final String POINTS = "dev/redlock/schedules/Points";
  private static final String POOL = "dev/redlock/schedules/Pool";

  /** Only its volatile fields are shared: the queue of a lock confines the others. */
  private static final String CONFINED = "dev/redlock/internal/protocol/";

  private final Set<String> finals = new HashSet<>();
  private final Set<String> volatiles = new HashSet<>();
  private String type = "";

  private Instrumentation(ClassVisitor next) {
    super(Opcodes.ASM9, next);
  }

  static byte[] apply(byte[] code) {
    ClassReader reader = new ClassReader(code);
    ClassWriter writer =
        new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
          @Override
          protected ClassLoader getClassLoader() {
            return Instrumentation.class.getClassLoader();
          }
        };
    Instrumentation instrumentation = new Instrumentation(writer);
    instrumentation.readFields(reader);
    reader.accept(instrumentation, ClassReader.SKIP_FRAMES);
    return writer.toByteArray();
  }

  private void readFields(ClassReader reader) {
    reader.accept(
        new ClassVisitor(Opcodes.ASM9) {
          private String owner = "";

          @Override
          public void visit(
              int version, int access, String name, String sign, String parent, String[] types) {
            owner = name;
          }

          @Override
          public FieldVisitor visitField(
              int access, String name, String descriptor, String sign, Object value) {
            if ((access & Opcodes.ACC_FINAL) != 0) {
              finals.add(owner + "." + name);
            }
            if ((access & Opcodes.ACC_VOLATILE) != 0) {
              volatiles.add(owner + "." + name);
            }
            return null;
          }
        },
        ClassReader.SKIP_CODE);
  }

  @Override
  public void visit(
      int version, int access, String name, String sign, String parent, String[] types) {
    type = name;
    super.visit(version, access, name, sign, parent, types);
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String descriptor, String sign, String[] exceptions) {
    boolean guarded = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
    String body = guarded ? name + "$guarded" : name;
    if (guarded) {
      guard(access & ~Opcodes.ACC_SYNCHRONIZED, name, body, descriptor, exceptions);
    }
    int flags = guarded ? access & ~Opcodes.ACC_SYNCHRONIZED : access;
    MethodVisitor next = super.visitMethod(flags, body, descriptor, sign, exceptions);
    return next == null || name.equals("<clinit>") ? next : new Code(next, name);
  }

  /** A method that enters the monitor, calls the body, and leaves the monitor in any case. */
  private void guard(int access, String name, String body, String descriptor, String[] exceptions) {
    boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
    MethodVisitor m = super.visitMethod(access, name, descriptor, null, exceptions);
    Label begin = new Label();
    Label end = new Label();
    Label thrown = new Label();
    m.visitCode();
    m.visitTryCatchBlock(begin, end, thrown, null);
    monitor(m, isStatic);
    m.visitLdcInsn(label(type, name));
    m.visitMethodInsn(
        Opcodes.INVOKESTATIC, POINTS, "enter", "(Ljava/lang/Object;Ljava/lang/String;)V", false);
    m.visitLabel(begin);
    int slot = 0;
    if (!isStatic) {
      m.visitVarInsn(Opcodes.ALOAD, slot++);
    }
    for (Type argument : Type.getArgumentTypes(descriptor)) {
      m.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), slot);
      slot += argument.getSize();
    }
    m.visitMethodInsn(
        isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKEVIRTUAL, type, body, descriptor, false);
    m.visitLabel(end);
    monitor(m, isStatic);
    m.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, "exit", "(Ljava/lang/Object;)V", false);
    m.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
    m.visitLabel(thrown);
    monitor(m, isStatic);
    m.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, "exit", "(Ljava/lang/Object;)V", false);
    m.visitInsn(Opcodes.ATHROW);
    m.visitMaxs(0, 0);
    m.visitEnd();
  }

  private void monitor(MethodVisitor m, boolean isStatic) {
    if (isStatic) {
      m.visitLdcInsn(Type.getObjectType(type));
    } else {
      m.visitVarInsn(Opcodes.ALOAD, 0);
    }
  }

  private static String label(String type, String method) {
    return type.substring(type.lastIndexOf('/') + 1) + "." + method;
  }

  private final class Code extends MethodVisitor {
    private final String method;
    private int line;

    Code(MethodVisitor next, String method) {
      super(Opcodes.ASM9, next);
      this.method = method;
    }

    @Override
    public void visitLineNumber(int number, Label start) {
      line = number;
      super.visitLineNumber(number, start);
    }

    private void here() {
      super.visitLdcInsn(label(type, method) + ":" + line);
    }

    private void points(String name, String descriptor) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, POINTS, name, descriptor, false);
    }

    private void point() {
      here();
      points("point", "(Ljava/lang/String;)V");
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
      if (isShared(owner, name)) {
        point();
      }
      super.visitFieldInsn(opcode, owner, name, descriptor);
    }

    private boolean isShared(String owner, String name) {
      if (!owner.equals(type) || method.equals("<init>")) {
        return false; // Fields of other classes are private, or final, almost everywhere.
      }
      String field = owner + "." + name;
      return type.startsWith(CONFINED) ? volatiles.contains(field) : !finals.contains(field);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode == Opcodes.MONITORENTER) {
        here();
        points("enter", "(Ljava/lang/Object;Ljava/lang/String;)V");
      } else if (opcode == Opcodes.MONITOREXIT) {
        points("exit", "(Ljava/lang/Object;)V");
      } else {
        super.visitInsn(opcode);
      }
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      switch (owner) {
        case "java/util/concurrent/locks/LockSupport" -> points(name, descriptor);
        case "java/lang/Thread" -> {
          if (name.equals("start") || name.equals("isAlive")) {
            points(name, "(Ljava/lang/Thread;)" + descriptor.substring(2));
          } else {
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
          }
        }
        case "dev/redlock/internal/DaemonThreads" -> {
          boolean pool = name.equals("few");
          super.visitMethodInsn(opcode, pool ? POOL : owner, name, descriptor, isInterface);
        }
        default -> shared(opcode, owner, name, descriptor, isInterface);
      }
    }

    private void shared(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      boolean isShared = isShared(owner) && !name.equals("<init>");
      // Maps call these functions while they hold a lock of their own.
      boolean holds = isShared && (name.startsWith("compute") || name.equals("merge"));
      if (holds) {
        here();
        points("begin", "(Ljava/lang/String;)V");
      } else if (isShared) {
        point();
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
      if (holds) {
        points("end", "()V");
      }
    }

    private boolean isShared(String owner) {
      return owner.equals("java/lang/invoke/VarHandle")
          || (owner.startsWith("java/util/concurrent/")
              && !owner.endsWith("TimeUnit")
              && !owner.endsWith("ThreadLocalRandom"))
          || (owner.startsWith("java/util/")
              && (owner.endsWith("/Map") || owner.endsWith("/Queue") || owner.endsWith("/Set"))
              && !type.startsWith(CONFINED));
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String descriptor, Handle bootstrap, Object... arguments) {
      super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }
  }
}
