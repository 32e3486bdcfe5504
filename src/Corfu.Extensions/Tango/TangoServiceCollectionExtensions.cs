using Corfu.Extensions;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Tango in a host.</summary>
public static class TangoServiceCollectionExtensions
{
    /// <summary>
    /// Registers <see cref="ITangoHost"/> over the client of
    /// <see cref="CorfuClientServiceCollectionExtensions.AddCorfuClient(IServiceCollection,
    /// Action{CorfuClientSettings})"/>.
    /// Health check <c>tango</c>, tag <c>ready</c>.
    /// </summary>
    public static TangoServicesBuilder AddTango(this IServiceCollection services,
        Action<TangoSettings>? configure = null)
    {
        var options = services.AddOptionsWithValidateOnStart<TangoSettings>();
        if (configure is not null) options.Configure(configure);
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IValidateOptions<TangoSettings>, TangoSettingsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<TangoHost>();
        services.TryAddSingleton<ITangoHost>(provider => provider.GetRequiredService<TangoHost>());
        services.AddHealthChecks().AddCheck<TangoHealthCheck>("tango", tags: ["ready"]);
        return new TangoServicesBuilder(services);
    }
}
