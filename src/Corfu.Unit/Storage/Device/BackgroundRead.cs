namespace Corfu.Unit;

/// <summary>Reads that must wait for a disk, moved off the thread that asked.</summary>
internal static class BackgroundRead
{
    public static ValueTask<ReadOnlyMemory<byte>> Run(Func<ReadOnlyMemory<byte>> read) => new(Task.Run(read));
}
