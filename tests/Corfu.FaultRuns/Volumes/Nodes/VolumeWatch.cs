using Salus.Coordination;
using Salus.Hosting;
using Salus;
using Tango;

namespace Corfu.FaultRuns.Volumes.Nodes;

/// <summary>A process that follows the volume in the log and prints, twice a second, whether all regions are admitted
/// and whole: <c>whole GENERATIONS</c>, or <c>lacks GENERATIONS</c> with what is missing. GENERATIONS is the sum of the
/// regions' generations.</summary>
internal static class VolumeWatch
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    public static async Task<int> RunAsync(string connect)
    {
        while (true)
        {
            try
            {
                await FollowAsync(connect);
            }
            catch (Exception e)
            {
                Console.WriteLine($"lacks 0 the volume cannot be read: {e.Message.ReplaceLineEndings(" ")}");
                await Task.Delay(s_interval);
            }
        }
    }

    /// <summary>The sum of the generations in a line; 0: not known.</summary>
    public static long GenerationsOf(string line) =>
        line.Split(' ') is [_, var generations, ..] && long.TryParse(generations, out var sum) ? sum : 0;

    public static bool IsWhole(string line) => line.StartsWith("whole ", StringComparison.Ordinal);

    private static async Task FollowAsync(string connect)
    {
        await using var log = await SalusLog.ConnectAsync(connect);
        var entry = await log.Map.Directory.FindAsync(VolumeRig.Volume)
            ?? throw new InvalidOperationException("there is no volume");
        var volume = await log.Runtime.OpenAsync<SalusVolume>(SalusVolume.NameOf(entry.Id), OpenMode.Create);
        while (true)
        {
            using var limit = new CancellationTokenSource(s_patience);
            Console.WriteLine(Line(await volume.StateAsync(limit.Token)));
            await Task.Delay(s_interval);
        }
    }

    private static string Line(VolumeState state)
    {
        var lacks = state.Regions.Where(region => !region.Value.Current.IsAdmitted)
            .Select(region => $"region {region.Key} is not admitted")
            .Concat(state.Regions.Where(region => region.Value.Current.Members.Any(member => !member.IsFilled))
                .Select(region => $"region {region.Key} is being copied")).ToList();
        var generations = state.Regions.Values.Sum(region => region.Current.Number.Value);
        return lacks.Count == 0 ? $"whole {generations}" : $"lacks {generations} {string.Join(", ", lacks)}";
    }
}
