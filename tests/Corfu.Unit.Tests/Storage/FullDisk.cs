namespace Corfu.Unit.Tests;

internal static class FullDisk
{
    private const int Enospc = 28;

    public static Exception Error() => new NativeIOException("Cannot write: no space left on device.", Enospc);
}
