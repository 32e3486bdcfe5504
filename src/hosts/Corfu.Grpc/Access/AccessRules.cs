using System.Text.Json;

namespace Corfu.Grpc;

/// <summary>The kinds of rights.</summary>
internal enum AccessRight
{
    Caller,
    Read,
    Write,
    Trim,
    ClusterRead,
    ClusterChange,
}

/// <summary>The grants of an access file. Roles above <c>caller</c> need none.</summary>
internal sealed class AccessRules
{
    /// <summary>A larger file is refused.</summary>
    public const int MaxBytes = 1 << 20;

    private const int MaxCallerName = 63;
    private const string ClusterRead = "read";

    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = System.Text.Json.Serialization.JsonUnmappedMemberHandling.Disallow,
        // The first of two grants of one name would be lost without a word.
        AllowDuplicateProperties = false,
        PropertyNameCaseInsensitive = false,
    };

    private readonly Dictionary<string, Grants> _callers;

    private AccessRules(Dictionary<string, Grants> callers) => _callers = callers;

    /// <summary>No caller is granted anything.</summary>
    public static AccessRules None { get; } = new([]);

    public int Callers => _callers.Count;

    public bool Allows(Principal caller, AccessRight right, CorfuResource? resource) => caller.Role switch
    {
        AccessRole.Node or AccessRole.Admin => true,
        AccessRole.Client => right is not (AccessRight.Trim or AccessRight.ClusterChange),
        AccessRole.Caller => right == AccessRight.Caller
            || (_callers.TryGetValue(caller.Name, out var grants) && grants.Allow(right, resource)),
        _ => false,
    };

    /// <exception cref="AccessFileException">Names every fault.</exception>
    public static AccessRules Parse(ReadOnlySpan<byte> json)
    {
        Document file;
        try
        {
            file = JsonSerializer.Deserialize<Document>(json, s_json)
                ?? throw new AccessFileException("it is empty; without callers it is { \"callers\": {} }");
        }
        catch (JsonException e)
        {
            throw new AccessFileException(e.Message, e);
        }

        if (file.Callers is null)
            throw new AccessFileException("'callers' is missing; without callers it is { \"callers\": {} }");
        List<string> faults = [];
        var callers = new Dictionary<string, Grants>(StringComparer.Ordinal);
        foreach (var (name, granted) in file.Callers) callers.Add(name, Grants.Of(name, granted, faults));
        return faults.Count > 0
            ? throw new AccessFileException(string.Join(' ', faults))
            : new AccessRules(callers);
    }

    private static bool IsCallerName(string name) => name.Length is > 0 and <= MaxCallerName
        && name.All(static c => c is >= 'a' and <= 'z' or >= '0' and <= '9' or '.' or '-');

    private sealed record Document(Dictionary<string, Granted?>? Callers);

    private sealed record Granted(string?[]? Read, string?[]? Write, string? Cluster);

    private sealed record Grants(
        ImmutableArray<AccessScope> Read, ImmutableArray<AccessScope> Write, bool ReadsCluster)
    {
        public static Grants Of(string name, Granted? granted, List<string> faults)
        {
            if (!IsCallerName(name))
                faults.Add(
                    $"callers: '{name}' is no name of a certificate: it has 1 to {MaxCallerName} of a-z, 0-9, '.', "
                    + "'-'.");
            if (granted is null) faults.Add($"callers.{name}: it is null; a caller without rights is left out.");
            if (granted?.Cluster is { } cluster && cluster != ClusterRead)
                faults.Add($"callers.{name}.cluster: '{cluster}' is not '{ClusterRead}'. Changes need the role admin.");
            return new Grants(
                ScopesOf($"callers.{name}.read", granted?.Read, faults),
                ScopesOf($"callers.{name}.write", granted?.Write, faults), granted?.Cluster == ClusterRead);
        }

        public bool Allow(AccessRight right, CorfuResource? resource) => right switch
        {
            AccessRight.Read => resource is not null && Covers(Read, resource),
            AccessRight.Write => resource is not null && Covers(Write, resource),
            AccessRight.ClusterRead => ReadsCluster,
            _ => false,
        };

        private static bool Covers(ImmutableArray<AccessScope> scopes, CorfuResource resource)
        {
            foreach (var scope in scopes)
            {
                if (scope.Covers(resource)) return true;
            }

            return false;
        }

        private static ImmutableArray<AccessScope> ScopesOf(string path, string?[]? texts, List<string> faults)
        {
            var scopes = ImmutableArray.CreateBuilder<AccessScope>();
            foreach (var text in texts ?? [])
            {
                if (AccessScope.Parse(text ?? "", out var fault) is { } scope) scopes.Add(scope);
                else faults.Add($"{path}: '{text}': {fault}.");
            }

            return scopes.DrainToImmutable();
        }
    }
}

/// <summary>The access file cannot be used. The message says why, without the file's name.</summary>
internal sealed class AccessFileException(string message, Exception? inner = null) : Exception(message, inner);
