namespace Corfu.Protocol;

/// <summary>One request to one role. <see cref="Epoch"/> travels in the frame's header, the rest in its body.</summary>
public abstract record Request(Epoch Epoch)
{
    public abstract Opcode Opcode { get; }

    public abstract void WriteBody(ref WireWriter w);

    /// <summary>Decodes the answer to this request; memory in it is a slice of the reader's input.</summary>
    public abstract Response ReadResponse(Status status, Epoch epoch, ref WireReader r);

    /// <summary>An answer of this request's type that carries a status and nothing else.</summary>
    public abstract Response Fail(Status status, Epoch epoch);
}

/// <summary>A request whose answer is a <typeparamref name="TResponse"/>.</summary>
public abstract record Request<TResponse>(Epoch Epoch) : Request(Epoch)
    where TResponse : Response;

/// <summary>
/// The answer to one request. <see cref="Epoch"/> is the epoch that the node is at, whatever the status: a client that
/// is behind sees it. Only answers with <see cref="Status.Ok"/> have a body, unless the type says otherwise.
/// </summary>
public abstract record Response(Status Status, Epoch Epoch)
{
    public bool IsOk => Status == Status.Ok;

    public virtual void WriteBody(ref WireWriter w)
    {
    }
}

/// <summary>A request whose answer is a bare status.</summary>
public abstract record AckRequest(Epoch Epoch) : Request<AckResponse>(Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        new AckResponse(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new AckResponse(status, epoch);
}

/// <summary>An answer that is a status and nothing else.</summary>
public sealed record AckResponse(Status Status, Epoch Epoch) : Response(Status, Epoch);
