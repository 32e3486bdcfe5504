using Corfu.Agent;

namespace Corfu.Hosting;

/// <summary>The setting of automation that an agent has received last; a small file, replaced whole. Beside it the
/// newest projection, for a cluster that has lost all acceptors.</summary>
/// <param name="Version">As <see cref="Automation.Version"/>.</param>
internal sealed record AgentMemory(long Version, bool Automatic)
{
    private const string ProjectionSuffix = ".projection";

    /// <summary>Null where nothing was ever told, or nothing can be read: then the configuration says it.</summary>
    public static Automation? Load(string? path)
    {
        if (path is null || !File.Exists(path)) return null;
        try
        {
            var memory = JsonFile.Read(path, HostingJson.Default.AgentMemory);
            return new Automation(memory.Version, memory.Automatic);
        }
        catch (NodeStartException)
        {
            return null;
        }
    }

    public static void Save(string path, Automation automation)
    {
        try
        {
            JsonFile.Write(path, new AgentMemory(automation.Version, automation.IsOn),
                HostingJson.Default.AgentMemory);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The other agents know it too, and tell it to this one when it is back.
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
