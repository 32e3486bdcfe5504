using Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>A session and its holdings.</summary>
public sealed class HeldTests
{
    private readonly Session _session = new(
        "id", ("", "owner"), TimeSpan.FromSeconds(1), maxHeld: 2, new(), TimeProvider.System);

    private int _renewals;

    [Fact]
    public async Task Holding_asked_for_before_a_keep_alive_is_renewed_when_kept()
    {
        var began = _session.Round;
        await _session.RenewAsync(CancellationToken.None);
        await _session.KeepAsync(Thing(1), began);
        Assert.Equal(1, _renewals);
        await _session.KeepAsync(Thing(2), _session.Round);
        Assert.Equal(1, _renewals);
        await _session.RenewAsync(CancellationToken.None);
        Assert.Equal(3, _renewals);
    }

    [Fact]
    public async Task Renewal_that_fails_is_made_again_before_the_keep_alive_is_answered()
    {
        await _session.KeepAsync(Thing(1, failures: 1), _session.Round);
        await _session.RenewAsync(CancellationToken.None);
        Assert.Equal(2, _renewals);
        Assert.False(_session.Events.TryRead(out _));
    }

    [Fact]
    public async Task Thing_that_has_ended_is_told_once_and_makes_room()
    {
        await _session.KeepAsync(Thing(1, isThere: false), _session.Round);
        await _session.KeepAsync(Thing(2), _session.Round);
        Assert.Throws<FrontEndLimitException>(() => _session.RequireRoom());
        await _session.RenewAsync(CancellationToken.None);
        _session.RequireRoom();
        Assert.True(_session.Events.TryRead(out var told));
        Assert.Equal(new Holding { Object = "mutex", FencingToken = 1 }, told.Lost);
        await _session.RenewAsync(CancellationToken.None);
        Assert.False(_session.Events.TryRead(out _));
    }

    [Fact]
    public async Task Thing_that_comes_after_the_end_is_given_back()
    {
        _session.LetGo();
        var ended = 0;
        await Assert.ThrowsAsync<SessionNotFoundException>(
            async () => await _session.KeepAsync(Thing(1) with { End = _ => End() }, 0));
        Assert.Equal(1, ended);

        ValueTask End()
        {
            ended++;
            return default;
        }
    }

    private Held Thing(long token, bool isThere = true, int failures = 0) => new(
        HoldingKey.Lock("mutex", token), default,
        _ => ++_renewals <= failures
            ? ValueTask.FromException<bool>(new TimeoutException())
            : new ValueTask<bool>(isThere),
        static _ => default);
}
