using Corfu.Operations;
using Corfu.WebConsole;
using Microsoft.AspNetCore.Routing;

namespace Corfu.Cli;

/// <summary>The console as pages of a node's HTTP endpoint.</summary>
internal sealed class NodeConsole : INodePages
{
    public string Path => "/console";

    public IAsyncDisposable Map(IEndpointRouteBuilder endpoints, NodeSurroundings node)
    {
        var site = new ConsoleSite(new ConsoleOptions
        {
            Connection = node.Connection,
            Client = node.Client,
            Loggers = node.Loggers,
            Time = node.Time,
        });
        site.Map(endpoints, Path);
        return site;
    }
}
