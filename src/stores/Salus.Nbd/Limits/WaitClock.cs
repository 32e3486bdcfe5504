namespace Salus.Nbd.Limits;

/// <summary>Since when a connection waits for its peer, for one sweep over all connections in place of a timer each.
/// The connection sets, the sweep reads.</summary>
internal sealed class WaitClock(TimeProvider time)
{
    // A timestamp, or 0: the connection does not wait.
    private long _frame;
    private long _write;

    /// <summary>A command has come in part. Later calls for the same command change nothing.</summary>
    public void BeginFrame()
    {
        if (Volatile.Read(ref _frame) == 0) Volatile.Write(ref _frame, Now());
    }

    public void EndFrame() => Volatile.Write(ref _frame, 0);

    public void BeginWrite() => Volatile.Write(ref _write, Now());

    public void EndWrite() => Volatile.Write(ref _write, 0);

    /// <summary>Why the peer is to be cut off, or null.</summary>
    public string? FaultOf(NbdServerOptions options) =>
        IsOver(Volatile.Read(ref _frame), options.FrameTimeout)
            ? $"a command did not come whole within {options.FrameTimeout.TotalSeconds:0} s"
            : IsOver(Volatile.Read(ref _write), options.WriteTimeout)
                ? $"the client took no replies for {options.WriteTimeout.TotalSeconds:0} s"
                : null;

    private long Now() => Math.Max(1, time.GetTimestamp());

    private bool IsOver(long since, TimeSpan limit) => since != 0 && time.GetElapsedTime(since) > limit;
}
