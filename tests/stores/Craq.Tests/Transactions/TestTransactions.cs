using System.Text;
using Craq.Chains;
using Craq.Tests.Chains;
using Craq.Tests.Coordination;

namespace Craq.Tests.Transactions;

/// <summary>Three chains over nodes 1 to 3, in the order of their ids: chain 0 has head 1, chain 1 head 2, chain 2 head
/// 3. A node more is a spare.</summary>
internal sealed class TestTransactions(TestChain nodes)
{
    private static readonly int[][] s_members = [[1, 2, 3], [2, 3, 1], [3, 1, 2]];

    private int _number;

    public TestChain Nodes => nodes;

    public TestDirectory Directory => nodes.Directory;

    public ImmutableArray<ChainId> Ids { get; } =
        [.. new[] { "t0", "t1", "t2" }.Select(ChainId.FromName).OrderBy(id => id)];

    public static void Run(Func<TestTransactions, Task> body, CraqNodeOptions? node = null, int seed = 1) =>
        TestChain.Run(async nodes =>
        {
            var world = new TestTransactions(nodes);
            for (var i = 0; i < 3; i++)
                nodes.Directory.Create(world.Ids[i], Placement.Implicit(1, 3), ChainOptions.Default, s_members[i]);
            await nodes.UntilAsync(() => world.Ids.All(id => nodes.Directory[id].Config.IsRecordedOpen));
            await body(world);
        }, node: node, seed: seed);

    public ChainConfig Config(int chain) => Directory[Ids[chain]].Config;

    public int HeadOf(int chain) => TestChain.NumberOf(Config(chain).Head.Node);

    public TransactPart Part(int chain, params ReadOnlySpan<ObjectOperation> operations) =>
        new(Ids[chain], ObjectVersion.None, [], [], [.. operations]);

    public TransactPart Reading(int chain, params ReadOnlySpan<string> keys) =>
        new(Ids[chain], ObjectVersion.None, [], [.. keys.ToArray().Select(key => new ObjectKey(key))], []);

    public static ObjectCompare IfAbsent(string key) => new(key, ObjectCompareKind.Absent, default, default);

    public TransactRequest Request(params ReadOnlySpan<TransactPart> parts) =>
        new(Epoch.First, new Guid(++_number, 1, 1, new byte[8]), [.. parts]);

    public async Task<TransactResponse> SendAsync(TransactRequest request) =>
        await nodes.CallAsync(HeadOf(Array.IndexOf([.. Ids], request.Parts[0].Chain)), request);

    public Task<TransactResponse> SendAsync(params ReadOnlySpan<TransactPart> parts) => SendAsync(Request(parts));

    public async Task<TransactResponse> CommitAsync(params TransactPart[] parts)
    {
        var answer = await SendAsync(Request(parts));
        Assert.Equal(Status.Ok, answer.Status);
        Assert.True(answer.IsCommitted);
        return answer;
    }

    public async Task<MutateResponse> MutateAsync(int chain, params ObjectOperation[] operations) =>
        await nodes.CallAsync(HeadOf(chain), new MutateRequest(Config(chain).Epoch, Ids[chain], nodes.NextId(),
            ObjectVersion.None, false, [], [], [.. operations]));

    /// <summary>The value that a strong read at the head shows; null: no object.</summary>
    public async Task<string?> GetAsync(int chain, string key)
    {
        var answer = await nodes.CallAsync(HeadOf(chain),
            new ReadObjectsRequest(Config(chain).Epoch, Ids[chain], ObjectReadMode.Strong, [key]));
        Assert.Equal(Status.Ok, answer.Status);
        return TestChain.ValueOf(answer);
    }

    public static string? ValueOf(in ObjectResult result) =>
        result.IsFound ? Encoding.UTF8.GetString(result.Value.Span) : null;

    public T With<T>(int node, int chain, Func<ChainCore, T> see)
    {
        var seen = default(T)!;
        Assert.True(nodes.Node(node).WithChain(Ids[chain], (core, _) => seen = see(core)));
        return seen;
    }

    public bool IsLocked(int chain, string key) =>
        With(HeadOf(chain), chain, core => core.Locks.Holds(new ObjectKey(key)));

    /// <summary>Takes a node out of all chains.</summary>
    public async Task RemoveAsync(int node)
    {
        for (var i = 0; i < 3; i++) Directory.Change(Ids[i], Samples.Remove(node));
        await nodes.UntilAsync(() => Ids.All(id => Directory[id].Config.IsRecordedOpen));
    }

    /// <summary>A node that has decided does nothing more.</summary>
    public void HangOnceDecided(int node) =>
        nodes.Access(node).Decided = () => Task.Delay(TimeSpan.FromDays(1), nodes.Time);
}
