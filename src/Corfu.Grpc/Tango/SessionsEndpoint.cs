using Grpc.Core;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>tango.v1.Sessions</c>: a session is its stream.</summary>
internal sealed class SessionsEndpoint(Sessions sessions, TimeProvider time, HostStop host)
    : V1.Sessions.SessionsBase
{
    public override Task Keep(
        IAsyncStreamReader<V1.KeepRequest> requestStream, IServerStreamWriter<V1.SessionEvent> responseStream,
        ServerCallContext context) =>
        host.RunAsync(context, stop => KeepAsync(requestStream, responseStream, stop));

    private async Task KeepAsync(
        IAsyncStreamReader<V1.KeepRequest> requests, IServerStreamWriter<V1.SessionEvent> responses,
        CancellationToken stop)
    {
        var opening = await ReadOpeningAsync(requests, stop);
        var timeToLive = Durations.TimeToLive(opening.TimeToLive)
            ?? throw new RequestException("open: time_to_live is missing.");
        var session = sessions.Open(opening.Owner, timeToLive);
        try
        {
            var silence = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var clock = time.CreateTimer(
                _ => silence.TrySetResult(), null, timeToLive, Timeout.InfiniteTimeSpan);
            await session.TellAsync(
                new V1.SessionEvent { Opened = new V1.Opened { Session = session.Id } }, stop);
            var first = await Task.WhenAny(
                ReadAsync(session, requests, clock, stop), TellAsync(session, responses, stop), silence.Task);
            // What it holds is free before the caller hears that the session has ended.
            await sessions.EndAsync(session);
            await first;
            if (first == silence.Task) throw new SessionSilentException();
        }
        finally
        {
            await sessions.EndAsync(session);
        }
    }

    private static async Task<V1.OpenSession> ReadOpeningAsync(
        IAsyncStreamReader<V1.KeepRequest> requests, CancellationToken stop) =>
        await requests.MoveNext(stop) && requests.Current.MessageCase == V1.KeepRequest.MessageOneofCase.Open
            ? requests.Current.Open
            : throw new RequestException("The first message opens the session.");

    private static async Task ReadAsync(
        Session session, IAsyncStreamReader<V1.KeepRequest> requests, ITimer clock, CancellationToken stop)
    {
        while (await requests.MoveNext(stop))
        {
            if (requests.Current.MessageCase != V1.KeepRequest.MessageOneofCase.KeepAlive)
                throw new RequestException("A session is opened once; then it is kept alive.");
            clock.Change(session.TimeToLive, Timeout.InfiniteTimeSpan);
            await session.TellAsync(new V1.SessionEvent { KeptAlive = new V1.KeptAlive() }, stop);
        }
    }

    private static async Task TellAsync(
        Session session, IServerStreamWriter<V1.SessionEvent> responses, CancellationToken stop)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(stop, session.Ended);
        try
        {
            await foreach (var told in session.Events.ReadAllAsync(either.Token))
                await responses.WriteAsync(told, either.Token);
        }
        catch (OperationCanceledException) when (session.Ended.IsCancellationRequested && !stop.IsCancellationRequested)
        {
            // It was ended: either by its caller, or because that does not take what it is told.
            throw new SessionSilentException();
        }
    }
}
