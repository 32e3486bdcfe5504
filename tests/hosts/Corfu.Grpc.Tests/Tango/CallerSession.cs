using Corfu.Grpc.Protocol.Tango.V1;
using Google.Protobuf.WellKnownTypes;
using global::Grpc.Core;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>A caller's side of a session.</summary>
internal sealed class CallerSession : IAsyncDisposable
{
    private readonly AsyncDuplexStreamingCall<KeepRequest, SessionEvent> _call;

    private CallerSession(AsyncDuplexStreamingCall<KeepRequest, SessionEvent> call, Opened opened) =>
        (_call, Id, Lost) = (call, opened.Session, [.. opened.Lost]);

    public string Id { get; }

    /// <summary>The caller's earlier holdings that had ended.</summary>
    public IReadOnlyList<Holding> Lost { get; }

    public static async Task<CallerSession> OpenAsync(
        SessionService.SessionServiceClient sessions, TimeSpan timeToLive, string owner, Holding[] held)
    {
        var call = sessions.Keep();
        try
        {
            await call.RequestStream.WriteAsync(new KeepRequest
            {
                Open = new OpenSession
                {
                    TimeToLive = Duration.FromTimeSpan(timeToLive),
                    Owner = owner,
                    Held = { held },
                },
            });
        }
        catch (RpcException)
        {
            // A refusal that came before the write ended: reading tells its reason.
        }

        Assert.True(await call.ResponseStream.MoveNext());
        return new CallerSession(call, call.ResponseStream.Current.Opened);
    }

    public async Task KeepAliveAsync() => await _call.RequestStream.WriteAsync(
        new KeepRequest { KeepAlive = new KeepAlive() });

    /// <summary>Completes when the holdings are renewed.</summary>
    public async Task RenewAsync()
    {
        await KeepAliveAsync();
        Assert.Equal(SessionEvent.EventOneofCase.KeptAlive, (await NextAsync()).EventCase);
    }

    public async Task<SessionEvent> NextAsync()
    {
        Assert.True(await _call.ResponseStream.MoveNext());
        return _call.ResponseStream.Current;
    }

    /// <summary>The caller ends it in order.</summary>
    public async Task EndAsync()
    {
        await _call.RequestStream.CompleteAsync();
        while (await _call.ResponseStream.MoveNext())
        {
        }
    }

    /// <summary>As the death of the caller: the stream breaks.</summary>
    public ValueTask DisposeAsync()
    {
        _call.Dispose();
        return ValueTask.CompletedTask;
    }
}
