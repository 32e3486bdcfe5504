using Grpc.Core;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.tango.v1.SessionService</c>: a session is its stream.</summary>
internal sealed class SessionsEndpoint(
    Sessions sessions, OpenObjects objects, CallerAccess access, CallerLimits limits, TimeProvider time, HostStop host)
    : V1.SessionService.SessionServiceBase
{
    public override Task Keep(
        IAsyncStreamReader<V1.KeepRequest> requestStream, IServerStreamWriter<V1.SessionEvent> responseStream,
        ServerCallContext context) =>
        host.RunAsync(context, stop => KeepAsync(requestStream, responseStream, context, stop));

    private async Task KeepAsync(
        IAsyncStreamReader<V1.KeepRequest> requests, IServerStreamWriter<V1.SessionEvent> responses,
        ServerCallContext context, CancellationToken stop)
    {
        using var place = limits.Sessions.Take(Callers.NameOf(context));
        var opening = await ReadOpeningAsync(requests, stop);
        var timeToLive = Durations.TimeToLive(opening.TimeToLive)
            ?? throw new RequestException("open: time_to_live is missing.");
        var held = opening.Held.Select(HoldingKey.Of).Distinct().ToList();
        // Renewing what another caller holds, and ending it, are writes of its object.
        await RequireWriteAsync(held.Select(static one => one.Object).Distinct(), context);
        foreach (var one in held) limits.UseObject(Callers.NameOf(context), one.Object);
        var session = sessions.Open(Callers.OwnerOf(context), opening.Owner, timeToLive);
        try
        {
            session.RequireRoom(held.Count);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(stop, session.Ended);
            var silence = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var clock = time.CreateTimer(
                _ => silence.TrySetResult(), null, timeToLive, Timeout.InfiniteTimeSpan);
            var reading = ReadAsync(session, held, requests, clock, context, either.Token);
            var first = await Task.WhenAny(reading, TellAsync(session, responses, stop), silence.Task);
            // Holdings that the caller gives back are free before it learns that the session has ended.
            if (first == reading && reading.IsCompletedSuccessfully && !stop.IsCancellationRequested)
                await session.EndAsync();
            sessions.Close(session);
            await first;
            if (first == silence.Task) throw new SessionSilentException();
        }
        finally
        {
            sessions.Close(session);
        }
    }

    private static async Task<V1.OpenSession> ReadOpeningAsync(
        IAsyncStreamReader<V1.KeepRequest> requests, CancellationToken stop) =>
        await requests.MoveNext(stop) && requests.Current.MessageCase == V1.KeepRequest.MessageOneofCase.Open
            ? requests.Current.Open
            : throw new RequestException("The first message opens the session.");

    /// <summary>Completes without an exception when the caller has ended its side in order.</summary>
    private async Task ReadAsync(
        Session session, List<HoldingKey> held, IAsyncStreamReader<V1.KeepRequest> requests, ITimer clock,
        ServerCallContext context, CancellationToken stop)
    {
        var opened = new V1.Opened { Session = session.Id };
        foreach (var lost in await Task.WhenAll(held.Select(one => TakeOverAsync(session, one, stop))))
        {
            if (lost is not null) opened.Lost.Add(lost);
        }

        await session.TellAsync(new V1.SessionEvent { Opened = opened }, stop);
        while (await requests.MoveNext(stop))
        {
            if (requests.Current.MessageCase != V1.KeepRequest.MessageOneofCase.KeepAlive)
                throw new RequestException("A session is opened once; then it is kept alive.");
            clock.Change(session.TimeToLive, Timeout.InfiniteTimeSpan);
            // A right that was taken away ends the session: what it holds ends by itself.
            if (access.IsRequired) await RequireWriteAsync(session.HeldObjects(), context);
            await session.RenewAsync(stop);
            await session.TellAsync(new V1.SessionEvent { KeptAlive = new V1.KeptAlive() }, stop);
        }
    }

    private ValueTask RequireWriteAsync(IEnumerable<string> held, ServerCallContext context) => access.RequireAsync(
        context, held.Select(static name => MethodAccess.OfObject(CorfuPolicies.Write, name)));

    /// <returns>Null: the session holds it now.</returns>
    private async Task<V1.Holding?> TakeOverAsync(Session session, HoldingKey holding, CancellationToken stop)
    {
        try
        {
            var held = await Held.FindAsync(holding, objects, stop);
            if (!await held.Renew(stop)) return holding.ToMessage();
            await session.KeepAsync(held, session.Round);
            return null;
        }
        catch (Exception e) when (e is TangoObjectNotFoundException or TangoObjectDeletedException)
        {
            return holding.ToMessage();
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
            // The session was ended: by its caller, or because the caller stopped reading.
            throw new SessionSilentException();
        }
    }
}
