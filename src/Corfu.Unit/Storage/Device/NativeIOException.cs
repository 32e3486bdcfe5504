namespace Corfu.Unit;

/// <summary>A failed system call, with its error number.</summary>
internal sealed class NativeIOException(string message, int errno) : IOException(message, errno)
{
    public int Errno { get; } = errno;
}
