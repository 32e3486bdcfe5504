using System.Text.Json.Serialization;
using Corfu.Agent;

namespace Corfu.Hosting;

/// <summary>The last orders to an agent: the setting of automation and the certificates that are denied; a small
/// file, replaced whole. Beside it the newest projection, for a cluster that has lost all acceptors.</summary>
/// <param name="Version">As <see cref="Automation.Version"/>; 0: nothing was told about automation.</param>
/// <param name="Denied">Null: none.</param>
internal sealed record AgentMemory(long Version, bool Automatic, DeniedRecord[]? Denied = null)
{
    private const string ProjectionSuffix = ".projection";

    /// <summary>Null: the configuration says it.</summary>
    [JsonIgnore]
    public Automation? Automation => Version > 0 ? new Automation(Version, Automatic) : null;

    [JsonIgnore]
    public ImmutableArray<DeniedCertificate> DeniedCertificates =>
        [.. (Denied ?? []).Select(one => new DeniedCertificate(one.Serial, one.IssuerKey, one.Until))];

    /// <summary>Null where nothing was ever told, or nothing can be read.</summary>
    public static AgentMemory? Load(string? path)
    {
        if (path is null || !File.Exists(path)) return null;
        try
        {
            return JsonFile.Read(path, HostingJson.Default.AgentMemory);
        }
        catch (NodeStartException)
        {
            return null;
        }
    }

    public AgentMemory With(Automation automation) =>
        this with { Version = automation.Version, Automatic = automation.IsOn };

    public AgentMemory With(ImmutableArray<DeniedCertificate> denied) => this with
    {
        Denied = denied.IsEmpty
            ? null
            : [.. denied.Select(one => new DeniedRecord(one.Serial, one.IssuerKey, one.Until))],
    };

    /// <summary>False: the other agents know it too, and tell it to this one when it is back.</summary>
    public bool TrySave(string path)
    {
        try
        {
            JsonFile.Write(path, this, HostingJson.Default.AgentMemory);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>Null where there is none, or none that can be read.</summary>
    public static Projection? LoadProjection(string? path)
    {
        if (path is null || !File.Exists(path + ProjectionSuffix)) return null;
        try
        {
            return ProjectionCodec.Decode(JsonFile.Read(path + ProjectionSuffix, HostingJson.Default.ByteArray));
        }
        catch (Exception e) when (e is NodeStartException or MalformedDataException)
        {
            return null;
        }
    }

    /// <exception cref="IOException">The file cannot be written.</exception>
    public static void SaveProjection(string path, Projection projection) => JsonFile.Write(
        path + ProjectionSuffix, ProjectionCodec.Encode(projection), HostingJson.Default.ByteArray);
}

/// <summary>A denied certificate in the file; its members are those of <see cref="DeniedCertificate"/>.</summary>
internal sealed record DeniedRecord(string Serial, string IssuerKey, DateTimeOffset Until);
