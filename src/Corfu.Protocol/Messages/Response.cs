namespace Corfu.Protocol;

/// <summary>
/// The answer to one request. <see cref="Epoch"/> is the epoch that the node is at, whatever the status: a client that is
/// behind sees it. Only answers with <see cref="Status.Ok"/> have a body, unless the type says otherwise.
/// </summary>
public abstract record Response(Status Status, Epoch Epoch)
{
    public bool IsOk => Status == Status.Ok;

    public virtual void WriteBody(ref WireWriter w)
    {
    }
}
