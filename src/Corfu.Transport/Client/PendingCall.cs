using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>One request without an answer yet. Whoever takes it out of the connection's table completes it, exactly once.</summary>
internal abstract class PendingCall
{
    public Request Request { get; protected set; } = null!;

    public uint Correlation { get; set; }

    /// <summary>In sweeps of the transport, so that no clock is read per request.</summary>
    public long Deadline { get; set; }

    /// <summary>Throws <see cref="MalformedDataException"/> for an answer of the wrong shape, with the call not completed.</summary>
    public abstract void Complete(FrameHeader header, ReadOnlyMemory<byte> body);

    public abstract void Fail(Exception error);
}
