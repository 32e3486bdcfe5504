using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Tango;

namespace Corfu.Extensions;

/// <summary>What a host has of Tango; see
/// <see cref="TangoServiceCollectionExtensions.AddTango(IServiceCollection, Action{TangoSettings})"/>.</summary>
public sealed class TangoServicesBuilder
{
    internal TangoServicesBuilder(IServiceCollection services) => Services = services;

    public IServiceCollection Services { get; }

    /// <summary>
    /// Opens the context when the host starts and registers it as a singleton. The start waits until its objects are
    /// there and caught up, so that a host that is ready answers from them; where it cannot open them, it fails.
    /// </summary>
    /// <param name="name">See <see cref="ITangoContext{TSelf}.OpenAsync"/>. Null: the one in the attribute.</param>
    public TangoServicesBuilder AddContext<T>(string? name = null)
        where T : TangoContext, ITangoContext<T>
    {
        Services.AddSingleton(provider =>
            ActivatorUtilities.CreateInstance<TangoContextHost<T>>(provider, name ?? T.DefaultName));
        Services.AddSingleton<IHostedService>(provider => provider.GetRequiredService<TangoContextHost<T>>());
        Services.AddSingleton(provider => provider.GetRequiredService<TangoContextHost<T>>().Context);
        return this;
    }
}
