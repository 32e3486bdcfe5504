using System.Collections.Immutable;
using Corfu.Client.Tests.Cluster;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent.Tests.Access;

public sealed class DenyListTests
{
    private readonly ManualTime _time = new();
    private readonly DateTimeOffset _start = new ManualTime().GetUtcNow();

    private DateTimeOffset InADay => _time.GetUtcNow().AddDays(1);

    [Fact]
    public void Certificate_on_the_list_is_denied_for_the_issuer_alone()
    {
        var list = new DenyList([], _time);
        var changes = 0;
        list.Changed += () => changes++;
        Assert.True(list.TryAdd([new DeniedCertificate("0a1b", "ff00", InADay)], out var isNew));
        Assert.True(isNew);
        Assert.True(list.IsDenied("0A1B", "FF00"));
        Assert.False(list.IsDenied("0A1B", "FF01"));
        Assert.False(list.IsDenied("0A1C", "FF00"));
        Assert.True(list.TryAdd([new DeniedCertificate("0A1B", "FF00", InADay)], out isNew));
        Assert.False(isNew);
        Assert.Equal(1, changes);
    }

    [Fact]
    public void Lists_that_were_told_in_any_order_have_one_digest()
    {
        DeniedCertificate[] entries = [One(1), One(2), One(3)];
        var a = new DenyList(entries, _time);
        var b = new DenyList([One(3)], _time);
        Assert.NotEqual(a.Digest, b.Digest);
        Assert.True(b.Merge([One(2), One(1)]));
        Assert.Equal(a.Digest, b.Digest);
        Assert.Equal(a.Entries, b.Entries);
        Assert.False(b.Merge(a.Entries));
        Assert.Equal(0UL, new DenyList([], _time).Digest);
    }

    /// <summary>Nodes are accepted for some time after the end of their certificates.</summary>
    [Fact]
    public void Entry_goes_long_after_the_end_of_the_certificate()
    {
        var time = new WallClock(_start);
        var list = new DenyList([One(1)], time);
        time.Now = One(1).Until + DenyList.KeptAfterEnd - TimeSpan.FromMinutes(1);
        list.Merge([One(2) with { Until = time.Now }]);
        Assert.Equal(2, list.Entries.Length);
        time.Now += TimeSpan.FromMinutes(2);
        list.Merge([One(3) with { Until = time.Now }]);
        Assert.Equal(2, list.Entries.Length);
        Assert.False(list.IsDenied(One(1).Serial, "FF"));
    }

    [Fact]
    public void Full_list_takes_all_or_none_that_an_operator_denies()
    {
        var list = new DenyList(Enumerable.Range(0, DeniedCertificate.MaxCount - 1).Select(One), _time);
        Assert.False(list.TryAdd([One(9000), One(9001)], out _));
        Assert.False(list.IsDenied(One(9000).Serial, "FF"));
        Assert.True(list.TryAdd([One(9000)], out _));
        Assert.False(list.TryAdd([One(9001)], out _));
        Assert.False(list.Merge([One(9001)]));
        Assert.Equal(DeniedCertificate.MaxCount, list.Entries.Length);
    }

    [Fact]
    public async Task Ping_with_another_list_is_answered_with_the_list_of_the_receiver()
    {
        List<ImmutableArray<DeniedCertificate>> kept = [];
        var agent = AgentOf(new AgentOptions
        {
            Self = new NodeEndpoint("test", 1),
            DeniedChanged = denied =>
            {
                kept.Add(denied);
                return true;
            },
        });
        Assert.Equal(Status.Ok, (await AskAsync(agent, new DenyRequest(Epoch.None, [One(1)]))).Status);
        Assert.Equal([One(1)], Assert.Single(kept));
        Assert.True(agent.Denied.IsDenied(One(1).Serial, "FF"));

        var stranger = Assert.IsType<PingResponse>(await AskAsync(agent, Ping(digest: 0)));
        Assert.Equal([One(1)], stranger.Denied);
        var knowing = Assert.IsType<PingResponse>(await AskAsync(agent, Ping(agent.Denied.Digest)));
        Assert.Empty(knowing.Denied);

        // The other side.
        var denials = new Denials(new AgentOptions { Self = default }, _time, NullLogger.Instance);
        denials.Merge(stranger.Denied);
        Assert.Equal(agent.Denied.Digest, denials.List.Digest);
    }

    /// <summary>A denial that a restart would forget is not acknowledged, and is tried again.</summary>
    [Fact]
    public async Task Denial_that_cannot_be_kept_is_in_force_and_not_acknowledged()
    {
        var works = false;
        var agent = AgentOf(
            new AgentOptions { Self = new NodeEndpoint("test", 1), DeniedChanged = _ => works });
        var deny = new DenyRequest(Epoch.None, [One(1)]);
        Assert.Equal(Status.Failed, (await AskAsync(agent, deny)).Status);
        Assert.True(agent.Denied.IsDenied(One(1).Serial, "FF"));
        Assert.Equal(Status.Failed, (await AskAsync(agent, deny)).Status);
        works = true;
        Assert.Equal(Status.Ok, (await AskAsync(agent, deny)).Status);
    }

    [Fact]
    public void Denials_before_a_restart_are_in_force_at_once()
    {
        var agent = AgentOf(new AgentOptions { Self = new NodeEndpoint("test", 1), Denied = [One(4)] });
        Assert.True(agent.Denied.IsDenied(One(4).Serial, "FF"));
    }

    /// <summary>An agent speaks for the hosts of its certificate: it lets no other process count as leaving.</summary>
    [Fact]
    public async Task Ping_counts_for_the_hosts_of_the_certificate_alone()
    {
        var agent = AgentOf(new AgentOptions { Self = new NodeEndpoint("test", 1) });
        var peer = new Principal(AccessRole.Node, "b") { Serial = "1", Hosts = ["10.0.0.2", "b.example"] };
        var foreign = await AskAsync(agent, Ping(0) with { From = At("10.0.0.3"), Leaving = true }, peer);
        Assert.DoesNotContain(At("10.0.0.3").Endpoint, ((PingResponse)foreign).Peers);
        var own = await AskAsync(agent, Ping(0) with { From = At("B.EXAMPLE") }, peer);
        Assert.Contains(At("B.EXAMPLE").Endpoint, ((PingResponse)own).Peers);

        // Without TLS nothing is known about hosts.
        var plain = await AskAsync(agent, Ping(0) with { From = At("10.0.0.9") }, Principal.OfPlain("10.0.0.1"));
        Assert.Contains(At("10.0.0.9").Endpoint, ((PingResponse)plain).Peers);
    }

    private static NodeAddress At(string host) => new(new NodeId(Guid.NewGuid()), new NodeEndpoint(host, 4000));

    private static PingRequest Ping(ulong digest) =>
        new(Epoch.None, At("10.0.0.2"), false, default) { DeniedDigest = digest };

    private DeniedCertificate One(int number) => new($"{number:X8}", "FF", _start.AddDays(1));

    private ClusterAgent AgentOf(AgentOptions options)
    {
        var transport = new DirectTransport(new ClusterId(Guid.NewGuid()));
        return new ClusterAgent(options, transport, transport, _time, new SeededEntropy(1));
    }

    private static async Task<Response> AskAsync(ClusterAgent agent, Request request, Principal? peer = null)
    {
        var sink = new Sink(peer ?? Principal.Local);
        agent.Handle(request, new ReplyTo(sink, 1, request.Opcode));
        return await sink.Answer.Task.WaitAsync(TestContext.Current.CancellationToken);
    }

    private sealed class Sink(Principal peer) : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Principal Principal => peer;

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.SetResult(response);
    }

    private sealed class WallClock(DateTimeOffset now) : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = now;

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
