namespace Corfu;

/// <summary>Root of Corfu's exceptions.</summary>
public class CorfuException(string message, Exception? inner = null) : Exception(message, inner);

/// <summary>The position was released by a trim.</summary>
public sealed class LogTrimmedException(string what, LogPosition? position = null)
    : CorfuException($"{what}: trimmed.")
{
    /// <summary>Null where it is not known.</summary>
    public LogPosition? Position { get; } = position;
}

/// <summary>The position lies above all that the log has granted: no entry can stand there, and nothing was
/// done.</summary>
public sealed class PositionNotGrantedException(string message) : CorfuException(message);

/// <summary>The page is damaged at every replica that was asked.</summary>
public sealed class PageCorruptException(string what, LogPosition? position = null)
    : CorfuException($"{what}: the page is corrupt.")
{
    /// <summary>Null where it is not known.</summary>
    public LogPosition? Position { get; } = position;
}

/// <summary>The entry exceeds the cluster's entry size limit.</summary>
public sealed class EntryTooLargeException(string what) : CorfuException($"{what}: the entry is too large.");

/// <summary>An append names a stream of the wrong range (<see cref="StreamId"/>). Nothing was done.</summary>
public sealed class StreamRangeException(StreamId stream) : CorfuException(stream.IsRaw
    ? $"Stream {stream} is a raw stream, and objects have ids below {StreamId.FirstRawValue}."
    : $"Stream {stream} is in the range of Tango's objects, which a raw entry would stop. "
        + $"Raw streams have names, or ids from {StreamId.FirstRawValue} on.")
{
    public StreamId Stream { get; } = stream;

    public static void ThrowIfNotRaw(ImmutableArray<StreamId> streams) => ThrowIfAny(streams, raw: false);

    public static void ThrowIfRaw(ImmutableArray<StreamId> streams) => ThrowIfAny(streams, raw: true);

    private static void ThrowIfAny(ImmutableArray<StreamId> streams, bool raw)
    {
        foreach (var stream in streams.AsSpan())
        {
            if (stream.IsRaw == raw) throw new StreamRangeException(stream);
        }
    }
}

/// <summary>The log is a copy of another cluster's and takes appends only after its promotion.</summary>
public sealed class LogIsMirrorException(string what)
    : CorfuException($"{what}: this log is a mirror, or is being restored; it takes no appends before it is promoted.");

/// <summary>The caller's certificate does not allow the operation. Nothing was done.</summary>
public sealed class CorfuDeniedException(string what)
    : CorfuException($"{what}: denied; neither the certificate's role nor its grants allow it.");

/// <summary>An operation was given up after its time-out; the message says why. Reads, checks and trims may be
/// repeated. An append throws this only when its entry is certainly not in the log.</summary>
public sealed class LogUnavailableException(string message, Exception? inner = null) : CorfuException(message, inner);
