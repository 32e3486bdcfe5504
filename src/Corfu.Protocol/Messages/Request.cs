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
