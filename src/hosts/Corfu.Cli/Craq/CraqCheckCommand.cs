using System.Globalization;
using System.Text.Json;
using Craq;
using Craq.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu craq check</c>.</summary>
internal static class CraqCheckCommand
{
    private const int ShownObjects = 20;

    private const string Description =
        """
        Compare the replicas of chains while the chains are used: the versions and the contents of all their objects.
        Each node reads all its values and tells digests; --versions reads none. With TLS it takes an administrator's
        certificate. Exit code 0 if all replicas are equal, else 1; objects that differ or are damaged are named with
        the version that each replica has.
        """;

    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);

    public static Command Create()
    {
        var names = new Argument<string[]>("chains")
        { Description = "Chains to compare (default: all).", Arity = ArgumentArity.ZeroOrMore };
        var versions = new Option<bool>("--versions")
        { Description = "Compare versions alone, which takes moments: values are not read." };
        var json = CommonOptions.JsonOption();
        var connect = CraqConnections.LogOption();
        var command = Commands.New("check", Description, [connect, names, versions, json]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var text = result.GetRequiredValue(connect);
            if (text.StartsWith("craq", StringComparison.Ordinal))
                throw new UsageException("'check' takes the chains from the directory in the log: give the log's "
                    + "connection string (corfu://...), which 'craq up' prints too.");
            await using var log = await Connections.ConnectAsync(text, cancellationToken);
            await using var admin = await CraqAdmin.OpenAsync(log, cancellationToken);
            var overview = await admin.ReadAsync(cancellationToken);
            var chains = Select(overview, result.GetValue(names) ?? []);
            var nodes = overview.ConnectionString(Connections.Parse(text));
            var compared = await ListAsync(result.GetValue(versions)
                ? CraqReplicas.CompareVersionsAsync(nodes, overview, chains, cancellationToken)
                : CraqReplicas.CompareAsync(nodes, overview, chains, cancellationToken),
                chains.Length, result.InvocationConfiguration.Error);
            await WriteAsync(result.InvocationConfiguration.Output, compared, result.GetValue(json));
            return compared.All(one => one.IsEqual) ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    private static ImmutableArray<ChainConfig> Select(CraqOverview overview, string[] names)
    {
        if (names.Length == 0) return overview.Chains;
        foreach (var name in names)
        {
            if (overview.Chains.All(chain => chain.Name != name))
                throw new CraqRefusedException(
                    $"There is no chain '{name}': 'corfu craq chain list' lists the chains.");
        }

        return [.. overview.Chains.Where(chain => names.Contains(chain.Name))];
    }

    private static async Task<List<ChainComparison>> ListAsync(
        IAsyncEnumerable<ChainComparison> comparisons, int chains, TextWriter error)
    {
        var compared = new List<ChainComparison>(chains);
        var reported = TimeProvider.System.GetTimestamp();
        await foreach (var one in comparisons)
        {
            compared.Add(one);
            if (TimeProvider.System.GetElapsedTime(reported) < s_interval) continue;
            reported = TimeProvider.System.GetTimestamp();
            await error.WriteLineAsync($"compared {compared.Count} of {chains} chains");
        }

        return compared;
    }

    private static async Task WriteAsync(TextWriter output, List<ChainComparison> compared, bool json)
    {
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(
                CraqCheckJson.Of(compared), CraqCliJson.Indented.CraqCheckJson));
            return;
        }

        await TextTable.WriteAsync(output, ["CHAIN", "EPOCH", "REPLICAS", "STATE"], compared.Select(one => new[]
        {
            one.Chain.Name,
            one.Chain.Epoch.Value.ToString(CultureInfo.InvariantCulture),
            one.Chain.Members.Length.ToString(CultureInfo.InvariantCulture),
            StateOf(one),
        }));
        foreach (var one in compared.Where(one => one.Differences.Length > 0))
        {
            await output.WriteLineAsync();
            await output.WriteLineAsync($"{one.Chain.Name}:");
            foreach (var difference in one.Differences.Take(ShownObjects))
            {
                var isOneVersion = difference.Replicas.DistinctBy(own => own.Version).Count() == 1;
                await output.WriteLineAsync($"  {difference.Key}  " + string.Join("  ",
                    difference.Replicas.Select(own => TextOf(own, isOneVersion))));
            }

            if (one.Differences.Length > ShownObjects)
                await output.WriteLineAsync($"  ... and {one.Differences.Length - ShownObjects} more (--json)");
        }

        await output.WriteLineAsync();
        await output.WriteLineAsync(VerdictOf(compared));
    }

    // Contents say something where versions do not.
    private static string TextOf(ReplicaVersion own, bool withContent)
    {
        var text = $"{own.Node.ToString()[..8]}={own.Version?.ToString() ?? "-"}";
        return own.IsDamaged ? $"{text} (damaged)" : withContent ? $"{text} ({own.Content})" : text;
    }

    private static string StateOf(ChainComparison one) => one.Problem is { } why ? $"not compared: {why}"
        : one.Differences.Length > 0 ? $"{one.Differences.Length} objects DIFFER"
        : one.Unsettled > 0 ? $"{one.Unsettled} objects are written all the time"
        : "equal";

    private static string VerdictOf(List<ChainComparison> compared)
    {
        var equal = compared.Count(one => one.IsEqual);
        var differing = compared.Count(one => one.Differences.Length > 0);
        var text = $"{equal} of {compared.Count} chains have equal replicas";
        if (differing > 0) text += $"; {differing} chains differ";
        var rest = compared.Count - equal - differing;
        return rest > 0 ? $"{text}; {rest} chains are not compared in full" : text;
    }
}

/// <summary>A comparison as JSON.</summary>
internal sealed record CraqCheckJson(bool Equal, IReadOnlyList<CraqChainCheckJson> Chains)
{
    public static CraqCheckJson Of(IReadOnlyList<ChainComparison> compared) => new(
        compared.All(one => one.IsEqual),
        [.. compared.Select(one => new CraqChainCheckJson(one.Chain.Name, one.Chain.Epoch.Value, one.IsEqual,
            [.. one.Differences.Select(own => new CraqDifferenceJson(own.IsKeyKnown ? own.Key : null,
                own.IsKeyKnown ? null : own.Key,
                own.Replicas.ToDictionary(replica => replica.Node.ToString(), replica => replica.Version?.Value),
                own.Replicas.ToDictionary(replica => replica.Node.ToString(), replica => replica.Content),
                [.. own.Replicas.Where(replica => replica.IsDamaged).Select(replica => replica.Node.ToString())]))],
            one.Unsettled, one.Problem))]);
}

internal sealed record CraqChainCheckJson(string Name, long Epoch, bool Equal,
    IReadOnlyList<CraqDifferenceJson> Differences, int Unsettled, string? Problem);

internal sealed record CraqDifferenceJson(string? Key, string? Hash, IReadOnlyDictionary<string, long?> Versions,
    IReadOnlyDictionary<string, string?> Contents, IReadOnlyList<string> Damaged);
