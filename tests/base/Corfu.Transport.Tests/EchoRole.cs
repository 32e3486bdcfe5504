using Corfu.Protocol;

namespace Corfu.Transport.Tests;

/// <summary>Answers writes with Ok at the request's epoch, reads with the requested positions; can hold its answers
/// back.</summary>
internal sealed class EchoRole(NodeId id) : IRoleHandler
{
    private readonly List<(Request Request, ReplyTo Reply)> _held = [];
    private int _batches;

    public NodeRole Role => NodeRole.Unit;

    public NodeId Id => id;

    public bool Hold { get; set; }

    public int PageSize { get; set; } = 16;

    public int Batches => Volatile.Read(ref _batches);

    public int Requests;

    public int HeldCount
    {
        get
        {
            lock (_held) return _held.Count;
        }
    }

    public void Handle(Request request, ReplyTo reply)
    {
        Interlocked.Increment(ref Requests);
        if (Hold)
        {
            lock (_held) _held.Add((request, reply));
            return;
        }

        reply.Send(Answer(request));
    }

    public void BatchEnd() => Interlocked.Increment(ref _batches);

    public void Release(bool newestFirst)
    {
        Hold = false;
        (Request, ReplyTo)[] held;
        lock (_held)
        {
            held = [.. _held];
            _held.Clear();
        }

        if (newestFirst) Array.Reverse(held);
        foreach (var (request, reply) in held) reply.Send(Answer(request));
    }

    private Response Answer(Request request) => request switch
    {
        ReadRequest read => new ReadResponse(Status.Ok, read.Epoch, [.. read.Positions.Select(Page)]),
        _ => request.Fail(Status.Ok, request.Epoch),
    };

    private PageResult Page(LogPosition position)
    {
        var bytes = new byte[PageSize];
        bytes.AsSpan().Fill((byte)position.Offset);
        return new PageResult(position, PageState.Data, false, default, bytes);
    }
}
