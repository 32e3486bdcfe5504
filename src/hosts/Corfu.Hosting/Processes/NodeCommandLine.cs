using System.Reflection;

namespace Corfu.Hosting;

/// <summary>How a node process is started: a program and the arguments before the path of the node's configuration
/// file.</summary>
public sealed record NodeCommandLine(string Program, ImmutableArray<string> Arguments)
{
    /// <summary>This executable again, however it was started (its own launcher, or <c>dotnet x.dll</c>).</summary>
    public static NodeCommandLine Self(params ReadOnlySpan<string> arguments)
    {
        var program = Environment.ProcessPath
            ?? throw new InvalidOperationException("The path of this process is unknown.");
        var host = Path.GetFileNameWithoutExtension(program);
        if (!host.Equals("dotnet", StringComparison.OrdinalIgnoreCase))
            return new NodeCommandLine(program, [.. arguments]);
        var assembly = Assembly.GetEntryAssembly()?.Location
            ?? throw new InvalidOperationException("There is no entry assembly.");
        return new NodeCommandLine(program, [assembly, .. arguments]);
    }
}
