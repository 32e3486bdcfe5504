using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Extensions;

/// <summary>Registers Tango's objects and services with a host; see
/// <see cref="TangoServiceCollectionExtensions.AddTango(IServiceCollection, Action{TangoSettings})"/>.</summary>
public sealed class TangoServicesBuilder
{
    internal TangoServicesBuilder(IServiceCollection services, string? key) => (Services, Key) = (services, key);

    public IServiceCollection Services { get; }

    /// <summary>The runtime's key; null: the default one.</summary>
    public string? Key { get; }

    /// <summary>
    /// Opens the context when the host starts and registers it as a singleton, with the runtime's key if it has one.
    /// The start waits until its objects are there and caught up, so that a host that is ready answers from them;
    /// where it cannot open them, it fails.
    /// </summary>
    /// <param name="name">See <see cref="ITangoContext{TSelf}.OpenAsync"/>. Null: the one in the attribute.</param>
    /// <exception cref="InvalidOperationException">The runtime has a context of this type already: the container could
    /// give one of them only.</exception>
    public TangoServicesBuilder AddContext<T>(string? name = null)
        where T : TangoContext, ITangoContext<T>
    {
        var opened = name ?? T.DefaultName;
        if (Services.Any(added => added.ServiceType == typeof(TangoContextHost<T>) && Equals(added.ServiceKey, Key)))
            throw new InvalidOperationException(
                $"A {typeof(T).Name} was added to this runtime already, so that '{opened}' would replace it. Add it to "
                + "a runtime with another key, or open it in code");
        if (Key is null)
        {
            Services.AddSingleton(provider => NewHost(provider, provider.GetRequiredService<ITangoHost>()));
            Services.AddSingleton<IHostedService>(
                static provider => provider.GetRequiredService<TangoContextHost<T>>());
            Services.AddSingleton(static provider => provider.GetRequiredService<TangoContextHost<T>>().Context);
            return this;
        }

        Services.AddKeyedSingleton(
            Key, (provider, key) => NewHost(provider, provider.GetRequiredKeyedService<ITangoHost>(key)));
        Services.AddSingleton<IHostedService>(
            provider => provider.GetRequiredKeyedService<TangoContextHost<T>>(Key));
        Services.AddKeyedSingleton(
            Key, static (provider, key) => provider.GetRequiredKeyedService<TangoContextHost<T>>(key).Context);
        return this;

        TangoContextHost<T> NewHost(IServiceProvider provider, ITangoHost tango) => new(
            tango, opened, provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<TangoContextHost<T>>>());
    }
}
