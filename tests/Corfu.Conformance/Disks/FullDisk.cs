using Corfu.Unit;

namespace Corfu.Conformance;

internal static class FullDisk
{
    private const int Enospc = 28;

    public static Exception Error() => new IOException("Cannot write: no space left on device.", Enospc);
}
