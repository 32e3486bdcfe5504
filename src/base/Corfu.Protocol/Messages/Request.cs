namespace Corfu.Protocol;

/// <summary>A request or its answer. <see cref="Epoch"/> travels in the frame's header, the rest in its body.</summary>
public abstract record Message(Epoch Epoch)
{
    public virtual void WriteBody(ref WireWriter w)
    {
    }
}

/// <summary>A request to a role.</summary>
public abstract record Request(Opcode Opcode, Epoch Epoch) : Message(Epoch)
{
    /// <summary>Decodes the answer to this request; memory in it is a slice of the reader's input.</summary>
    public abstract Response ReadResponse(Status status, Epoch epoch, ref WireReader r);

    /// <summary>An answer of this request's type that carries a status and nothing else.</summary>
    public abstract Response Fail(Status status, Epoch epoch);

    /// <summary>Whether a decoded answer keeps slices of the reader's input. Its caller then gets an input of its own;
    /// else the connection's buffer is the input.</summary>
    public virtual bool AnswerKeepsInput() => false;

    /// <summary>Whether the code that awaits the answer never blocks, and neither does what it resumes: it may run on
    /// the thread that receives for the connection, which saves a change of threads.</summary>
    public virtual bool AnswerIsTakenInline() => false;
}

/// <summary>A request whose answer is a <typeparamref name="TResponse"/>.</summary>
public abstract record Request<TResponse>(Opcode Opcode, Epoch Epoch) : Request(Opcode, Epoch)
    where TResponse : Response;

/// <summary>The answer to one request. <see cref="Epoch"/> is the node's, whatever the status, so that a client with an
/// older one learns of it. Only answers with <see cref="Status.Ok"/> have a body, unless the type says
/// otherwise.</summary>
public abstract record Response(Status Status, Epoch Epoch) : Message(Epoch)
{
    public bool IsOk => Status == Status.Ok;
}

/// <summary>A request whose answer is a bare status.</summary>
public abstract record AckRequest(Opcode Opcode, Epoch Epoch) : Request<AckResponse>(Opcode, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new AckResponse(status, epoch);
}

/// <summary>An answer that is a status and nothing else.</summary>
public sealed record AckResponse(Status Status, Epoch Epoch) : Response(Status, Epoch);
