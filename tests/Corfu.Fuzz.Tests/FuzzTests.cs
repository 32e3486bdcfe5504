using Corfu.Fuzz;

namespace Corfu.Fuzz.Tests;

/// <summary>A small share of the release run (docs/testing.md), and its own parts: a fuzzer that cannot find anything
/// proves nothing.</summary>
public sealed class FuzzTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("corfu-fuzz-").FullName;

    public static TheoryData<string> Names
    {
        get
        {
            var folder = Directory.CreateTempSubdirectory("corfu-fuzz-");
            TheoryData<string> names = [.. AllTargets.In(folder.FullName).Select(t => t.Name)];
            folder.Delete(recursive: true);
            return names;
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_decoder_takes_any_bytes(string name)
    {
        var target = AllTargets.In(_folder).Single(t => t.Name == name);
        var feeder = new Feeder(target, 1);
        for (var i = 0; i < 200 * Math.Min(target.Share, 10); i++) feeder.FeedNext();
        Assert.Empty(feeder.Findings);

        // Else the repair of checks has gone stale, and nothing gets past them.
        Assert.InRange(feeder.Accepted, 1, feeder.Inputs);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Every_port_of_a_running_cluster_takes_any_bytes(bool tls)
    {
        var output = new StringWriter();
        Assert.True(await new PortFuzz(1, output, tls).RunAsync(1_500), output.ToString());
    }

    [Fact]
    public async Task Every_port_of_running_salus_nodes_takes_any_bytes()
    {
        var output = new StringWriter();
        Assert.True(await new SalusPortFuzz(1, output).RunAsync(1_500), output.ToString());
    }

    [Fact]
    public async Task Port_of_a_running_ZooKeeper_takes_any_bytes()
    {
        var output = new StringWriter();
        Assert.True(await new ZooKeeperPortFuzz(1, output).RunAsync(1_500), output.ToString());
    }

    [Fact]
    public async Task Every_replica_starts_and_serves_after_well_formed_requests()
    {
        var output = new StringWriter();
        Assert.True(await new RequestFuzz(1, output).RunAsync(6_000), output.ToString());
    }

    [Fact]
    public void The_same_seed_gives_the_same_inputs()
    {
        var target = ProtocolTargets.All().First();
        Assert.Equal(new Feeder(target, 3).InputAt(77), new Feeder(target, 3).InputAt(77));
        Assert.NotEqual(new Feeder(target, 3).InputAt(77), new Feeder(target, 4).InputAt(77));
    }

    [Fact]
    public void A_decoder_that_trusts_a_length_is_found()
    {
        var trusting = new Target("trusting", 1, [[4, 0, 0, 0, 1, 2, 3, 4]],
            b => GC.KeepAlive(new byte[b.Length < 4 ? 0 : BitConverter.ToInt32(b) & 0xFFFFFF]));
        var careless = new Target("careless", 1, [[4, 0, 0, 0, 1, 2, 3, 4]], b => _ = b[b[0]]);
        Assert.False(new Campaign([trusting], 1, TextWriter.Null).Run(3_000));
        Assert.False(new Campaign([careless], 1, TextWriter.Null).Run(3_000));
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);
}
