using Corfu.WebConsole.Views;
using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Web;
using Microsoft.Extensions.DependencyInjection;

namespace Corfu.WebConsole.Serving;

/// <summary>Renders pages to text. Components get all they show as parameters, and no services.</summary>
internal sealed class PageRenderer(ILoggerFactory loggers) : IAsyncDisposable
{
    private readonly ServiceProvider _nothing = new ServiceCollection().BuildServiceProvider();

    public async Task<string> RenderAsync(Page page, Frame frame)
    {
        await using var renderer = new HtmlRenderer(_nothing, loggers);
        return await renderer.Dispatcher.InvokeAsync(async () =>
        {
            var output = await renderer.RenderComponentAsync<Shell>(ParameterView.FromDictionary(
                new Dictionary<string, object?>
                {
                    [nameof(Shell.Frame)] = frame,
                    [nameof(Shell.Body)] = BodyOf(page),
                }));
            return Harmless.TextOf(output.ToHtmlString());
        });
    }

    public ValueTask DisposeAsync() => _nothing.DisposeAsync();

    private static RenderFragment BodyOf(Page page) => builder =>
    {
        builder.OpenComponent(0, page.View);
        builder.AddMultipleAttributes(1, page.Parameters!);
        builder.CloseComponent();
    };
}
