using System.Collections.Frozen;
using System.Globalization;
using System.Reflection;
using Tango;
using Tango.Collections;

namespace Corfu.WebConsole.Reading;

/// <summary>Names of the built-in types' mutators; those of other types are known by their numbers alone.</summary>
internal static class MutatorNames
{
    private static readonly FrozenDictionary<(string Type, int Number), string> s_names =
        (from type in typeof(TangoCounter).Assembly.GetTypes()
         let attribute = type.GetCustomAttribute<TangoObjectAttribute>()
         where attribute is not null
         from method in type.GetMethods(
             BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly)
         let mutator = method.GetCustomAttribute<MutatorAttribute>()
         where mutator is not null
         select KeyValuePair.Create(
             (attribute.TypeName, mutator.Number),
             method.Name.EndsWith("Async", StringComparison.Ordinal) ? method.Name[..^5] : method.Name))
        .DistinctBy(static pair => pair.Key).ToFrozenDictionary();

    public static string Of(string typeName, int number) =>
        s_names.TryGetValue((typeName.Split('<')[0], number), out var name)
            ? name
            : number.ToString(CultureInfo.InvariantCulture);
}
