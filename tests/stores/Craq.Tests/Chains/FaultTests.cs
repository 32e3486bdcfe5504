using System.Globalization;
using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>Writers and readers while nodes are killed or cut off and the chain is reordered, by seeds.</summary>
public sealed class FaultTests
{
    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 25)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Increments_are_applied_once_whatever_fails(int seed) => TestChain.Run(async chain =>
    {
        await chain.PutAsync("n", "0");
        var random = new Random(seed);
        var run = new Run();
        var writers = Enumerable.Range(0, 3).Select(_ => WriteAsync(chain, run)).ToArray();
        var readers = Enumerable.Range(1, 3).Select(node => ReadAsync(chain, run, node)).ToArray();
        for (var i = 0; i < 6; i++)
        {
            await chain.DelayAsync(random.Next(50, 800));
            await FaultAsync(chain, random);
        }

        run.IsOver = true;
        await Task.WhenAll(writers);
        await Task.WhenAll(readers);
        for (var node = 1; node <= 3; node++)
        {
            var answer = await chain.ReadAsync(node, "n");
            for (var tries = 0; !answer.IsOk; tries++)
            {
                Assert.True(tries < 500, $"Node {node} does not answer once the faults are over: {answer.Status}.");
                await chain.DelayAsync(20);
                answer = await chain.ReadAsync(node, "n");
            }

            Assert.Equal(run.Done, ulong.Parse(TestChain.ValueOf(answer)!, CultureInfo.InvariantCulture));
        }

        Assert.True(run.Reads > 0);
    }, seed: seed);

    private sealed class Run
    {
        public bool IsOver { get; set; }

        public ulong Done { get; set; }

        public int Reads { get; set; }
    }

    // Each write is repeated until its outcome is known.
    private static async Task WriteAsync(TestChain chain, Run run)
    {
        while (!run.IsOver)
        {
            var request = chain.Mutation(TestChain.Add("n", 1));
            for (var tries = 0; ; tries++)
            {
                Assert.True(tries < 2000, "A write has no outcome.");
                try
                {
                    var answer = await chain.MutateAsync(request with { Epoch = chain.Config.Epoch });
                    if (answer.IsOk) break;
                    Assert.NotEqual(CraqStatus.Mismatch, answer.Status);
                    Assert.NotEqual(CraqStatus.Forgotten, answer.Status);
                }
                catch (TransportException)
                {
                    // The outcome is unknown: the same request again.
                }

                await chain.DelayAsync(20);
            }

            run.Done++;
        }
    }

    // A strong read shows at least what was acknowledged before it, and never less than an earlier one.
    private static async Task ReadAsync(TestChain chain, Run run, int node)
    {
        while (!run.IsOver)
        {
            var least = run.Done;
            try
            {
                var answer = await chain.ReadAsync(node, "n");
                if (answer.IsOk)
                {
                    var seen = ulong.Parse(TestChain.ValueOf(answer)!, CultureInfo.InvariantCulture);
                    Assert.True(seen >= least, $"Node {node} shows {seen} where {least} were acknowledged.");
                    run.Reads++;
                }
            }
            catch (TransportException)
            {
                // The node is down.
            }

            await chain.DelayAsync(10);
        }
    }

    private static async Task FaultAsync(TestChain chain, Random random)
    {
        var node = random.Next(1, 4);
        switch (random.Next(4))
        {
            case 0:
                await chain.KillAsync(node);
                await chain.DelayAsync(random.Next(300));
                await chain.StartAsync(node);
                break;
            case 1:
                var other = 1 + (node % 3);
                chain.Network.Cut(Samples.Id(node), Samples.Id(other));
                await chain.DelayAsync(random.Next(600));
                chain.Network.Heal();
                break;
            case 2:
                await chain.OpenedAsync();
                chain.Change(new ChainChange.Reorder(
                    [.. chain.Config.Members.Select(member => member.Node).OrderBy(_ => random.Next())]));
                break;
            default:
                chain.Network.DropsAnswer = (_, _, _) => random.Next(3) == 0;
                await chain.DelayAsync(300);
                chain.Network.DropsAnswer = null;
                break;
        }
    }
}
