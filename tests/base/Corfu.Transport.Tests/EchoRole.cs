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

    /// <summary>Called on the read loop's thread, before the request is answered.</summary>
    public Action? Handling { get; set; }

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
        Handling?.Invoke();
        if (Hold)
        {
            lock (_held) _held.Add((request, reply));
            return;
        }

        reply.Send(Answer(request));
    }

    public void BatchEnd() => Interlocked.Increment(ref _batches);

    public void Release(bool newestFirst, ReplyBatch? batch = null)
    {
        Hold = false;
        var held = TakeHeld();
        if (newestFirst) Array.Reverse(held);
        Send(held, batch);
        batch?.Flush();
    }

    /// <summary>Sends what is held as a part of a batch, which the caller flushes.</summary>
    public void Send(ReplyBatch batch) => Send(TakeHeld(), batch);

    private void Send((Request Request, ReplyTo Reply)[] held, ReplyBatch? batch)
    {
        foreach (var (request, reply) in held)
        {
            batch?.Add(reply);
            reply.Send(Answer(request));
        }
    }

    private (Request Request, ReplyTo Reply)[] TakeHeld()
    {
        lock (_held)
        {
            (Request, ReplyTo)[] held = [.. _held];
            _held.Clear();
            return held;
        }
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
