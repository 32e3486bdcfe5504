namespace Corfu.Grpc;

/// <summary>A thing that a call reads or changes: the resource of <see cref="CorfuPolicies.Read"/> and
/// <see cref="CorfuPolicies.Write"/>.</summary>
public sealed record CorfuResource
{
    private CorfuResource()
    {
    }

    /// <summary>The log as a whole: any position, entries without streams, and the streams of objects.</summary>
    public static CorfuResource Log { get; } = new();

    /// <summary>Some stream or the log, whichever: the call settles appends of its caller's own.</summary>
    public static CorfuResource AnyStream { get; } = new();

    /// <summary>The object's name, exactly as the directory has it; null: the resource is no object.</summary>
    public string? ObjectName { get; private init; }

    /// <summary>Null: the resource is no stream.</summary>
    public StreamId? StreamId { get; private init; }

    /// <summary>The object of this name.</summary>
    public static CorfuResource Object(string name) => new() { ObjectName = name };

    /// <summary>A stream. A name and the id that it stands for are the same stream.</summary>
    public static CorfuResource Stream(StreamId id) => new() { StreamId = id };

    // Log and AnyStream have no fields that tell them apart.
    public bool Equals(CorfuResource? other) => other is not null
        && ObjectName == other.ObjectName && StreamId == other.StreamId
        && ReferenceEquals(this, AnyStream) == ReferenceEquals(other, AnyStream);

    public override int GetHashCode() => HashCode.Combine(ObjectName, StreamId);

    /// <summary>As a scope of the access file is written; a stream has its id in place of its name.</summary>
    public override string ToString() => this switch
    {
        { ObjectName: { } name } => $"objects:{name}",
        { StreamId: { } id } => $"stream:{id}",
        _ => ReferenceEquals(this, AnyStream) ? "stream" : "log",
    };
}
