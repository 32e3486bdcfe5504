using Corfu.FaultRuns.Clients;
using Craq.Hosting;

namespace Corfu.FaultRuns.Objects.Nodes;

/// <summary>A process that follows the directory in the log and prints, twice a second, whether all chains are whole:
/// <c>whole EPOCHS</c>, or <c>lacks EPOCHS</c> with what is missing. EPOCHS is the sum of the chains' epochs.</summary>
internal static class StoreWatch
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    public static async Task<int> RunAsync(string connect, int replicas)
    {
        while (true)
        {
            try
            {
                await FollowAsync(connect, replicas);
            }
            catch (Exception e)
            {
                Console.WriteLine($"lacks 0 the directory cannot be read: {e.Message.ReplaceLineEndings(" ")}");
                await Task.Delay(s_interval);
            }
        }
    }

    /// <summary>The sum of the epochs in a line; 0: not known.</summary>
    public static long EpochsOf(string line) =>
        line.Split(' ') is [_, var epochs, ..] && long.TryParse(epochs, out var sum) ? sum : 0;

    public static bool IsWhole(string line) => line.StartsWith("whole ", StringComparison.Ordinal);

    private static async Task FollowAsync(string connect, int replicas)
    {
        await using var client = await WorkClient.ConnectAsync(connect);
        await using var admin = await CraqAdmin.OpenAsync(client);
        while (true)
        {
            using var limit = new CancellationTokenSource(s_patience);
            Console.WriteLine(Line(await admin.ReadAsync(limit.Token), replicas));
            await Task.Delay(s_interval);
        }
    }

    private static string Line(CraqOverview overview, int replicas)
    {
        var lacks = overview.Chains.Where(chain => !chain.IsRecordedOpen).Select(chain => $"{chain.Name} is not open")
            .Concat(overview.Chains.Where(chain => chain.Members.Length != replicas)
                .Select(chain => $"{chain.Name} has {chain.Members.Length} members"))
            .Concat(overview.Nodes.Where(node => node.State != CraqNodeState.Active)
                .Select(node => $"{node.Endpoint} is {node.State}")).ToList();
        var epochs = overview.Chains.Sum(chain => chain.Epoch.Value);
        return lacks.Count == 0 ? $"whole {epochs}" : $"lacks {epochs} {string.Join(", ", lacks)}";
    }
}
