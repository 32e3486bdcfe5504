using Microsoft.CodeAnalysis;

namespace Tango.Generators;

/// <summary>Everything that is reported. Ids are never reused; docs/analyzers.md explains each with an
/// example.</summary>
internal static class Rules
{
    private const string Category = "Tango";

    /// <summary>The page that explains each id; absolute, because it is followed from a package.</summary>
    private const string Help = "https://github.com/corfu-net/corfu/blob/main/docs/analyzers.md#";

    public static readonly DiagnosticDescriptor NotPartial = Error(
        "TANGO001", "A Tango object must be partial",
        "'{0}', and every type around it, must be partial: the generator writes the other half",
        "The update and query helpers, the dispatch of log records and the checkpoint code are generated into the "
        + "class.");

    public static readonly DiagnosticDescriptor ObjectShape = Error(
        "TANGO002", "A Tango object has the wrong shape",
        "'{0}' cannot be a Tango object: {1}",
        "The class derives directly from TangoObject, is not abstract, has a constructor without parameters "
        + "(playback creates the view with it) "
        + "and a type name that is stored in the directory.");

    public static readonly DiagnosticDescriptor OperationShape = Error(
        "TANGO003", "A mutator or accessor has the wrong shape",
        "'{0}' cannot be {1}: {2}",
        "Declare 'public partial ValueTask<R> XAsync(arguments, CancellationToken cancellationToken = default);' "
        + "without a body.");

    public static readonly DiagnosticDescriptor MissingBody = Error(
        "TANGO004", "The Apply or Read method is missing",
        "'{0}' needs '{1}'{2}",
        "A mutator XAsync runs as the private method ApplyX on every view, in log order; an accessor XAsync as "
        + "ReadX. The parameters, "
        + "without the CancellationToken and those that are [LogOnly], and the result must be the same. An ApplyX may "
        + "take the place of its call as an added last parameter of type LogPlace.");

    public static readonly DiagnosticDescriptor NumberNotPositive = Error(
        "TANGO005", "A mutator's number must be positive",
        "The number of '{0}' must be positive, not {1}",
        "The number is written into every log record of the mutator.");

    public static readonly DiagnosticDescriptor NumberTwice = Error(
        "TANGO006", "Two mutators have the same number",
        "'{0}' has the number {1} of '{2}'",
        "Records name the mutator by number only. Never give a removed mutator's number to another one: old records "
        + "would change their meaning.");

    public static readonly DiagnosticDescriptor NoFormatter = Error(
        "TANGO007", "A type cannot be stored",
        "{0} of '{1}' has the type '{2}', which no formatter can write{3}",
        "Arguments and state are written to the log. Use primitives, strings, tuples, the immutable collections or "
        + "types marked [MessagePackObject].");

    public static readonly DiagnosticDescriptor UnknownFormatter = Warning(
        "TANGO008", "A type has no known formatter",
        "{0} of '{1}' has the type '{2}'{3}: mark it [MessagePackObject], or register a formatter and suppress this",
        "Opening the object fails unless TangoFormatters.Register was called for the type.");

    public static readonly DiagnosticDescriptor MutableState = Error(
        "TANGO009", "State must be immutable",
        "'{0}' holds '{1}', which can be changed in place{2}",
        "A snapshot of a view is a shallow copy. Transactions, rollback and readers on other threads rely on nothing "
        + "in it ever changing: use the "
        + "collections of System.Collections.Immutable, and [MessagePackObject] types without setters.");

    public static readonly DiagnosticDescriptor StaticState = Error(
        "TANGO010", "State must not be static",
        "'{0}' is static and can be changed: it would be shared by all views in the process and would be in no "
        + "checkpoint",
        "Keep state in instance fields.");

    public static readonly DiagnosticDescriptor NotDeterministic = Error(
        "TANGO011", "Apply must be deterministic",
        "'{0}' must not be used in {1}: {2}",
        "Every replica, and every later replay, applies the same records and must reach the same state. Take what "
        + "varies as an argument of "
        + "the mutator: the caller reads the clock, the log stores what it read.");

    public static readonly DiagnosticDescriptor UnorderedEnumeration = Error(
        "TANGO012", "Apply must not depend on the order of a hash collection",
        "{1} enumerates '{0}', whose order differs between processes",
        "Use a sorted collection, or order the items before using them. Counting, lookups and order-free aggregates "
        + "such as Any and Max are fine.");

    public static readonly DiagnosticDescriptor NotAKey = Error(
        "TANGO013", "A type cannot be a version key",
        "'{0}' of type '{1}' cannot be a [VersionKey]{2}: equal values must have equal bytes",
        "Conflicts are found by comparing the bytes of keys. 1.0m and 1.00m are equal but differ in bytes, so that a "
        + "conflict would be missed. Use "
        + "integers, strings, Guid, enums, and tuples or [MessagePackObject] records of them.");

    public static readonly DiagnosticDescriptor UndeclaredRejection = Error(
        "TANGO014", "A mutator that rejects must say so",
        "'{0}' can reject: declare [Mutator({1}, MayReject = true)]",
        "A mutator that returns nothing completes once it is in the log. Its caller hears of a rejection only when "
        + "MayReject is declared.");

    public static readonly DiagnosticDescriptor StateOnHandle = Error(
        "TANGO015", "State is used outside Apply and Read",
        "'{0}' uses '{1}', but the state lives in the view that playback changes; the object that callers hold has "
        + "none",
        "Public members run on the handle. Make it an [Accessor] with a ReadX method, or a [Mutator] with an ApplyX "
        + "method.");

    public static readonly DiagnosticDescriptor ReadChanges = Error(
        "TANGO016", "Read must not change state",
        "'{0}' changes '{1}': only what a mutator applies is in the log",
        "A change made by a reader exists in one view only, and is lost in the next replay.");

    public static readonly DiagnosticDescriptor CultureOrder = Warning(
        "TANGO017", "Strings are ordered by the culture",
        "'{0}' orders strings by the culture of the process: give it TangoOrder<string>.Comparer or "
        + "StringComparer.Ordinal",
        "Two replicas with different cultures, or versions of their tables, would order, and even identify, keys "
        + "differently.");

    public static readonly DiagnosticDescriptor RejectAfterChange = Error(
        "TANGO018", "A rejection must come before any change",
        "'{0}' may reject after it has changed state",
        "A rejected update has no effect. Check everything first, then change.");

    public static readonly DiagnosticDescriptor TypeNameTwice = AtEnd(
        "TANGO019", "Two Tango objects have the same type name",
        "'{0}' has the type name \"{1}\" of '{2}'",
        "The directory records an object's type by this name only.");

    public static readonly DiagnosticDescriptor ValueShape = Error(
        "TANGO020", "A Tango value has the wrong shape",
        "'{0}' cannot be a Tango value: {1}",
        "The generated formatter is a class of its own: it reads the members, and builds values with a constructor "
        + "or initialiser.");

    public static readonly DiagnosticDescriptor MemberNumberTwice = Error(
        "TANGO021", "Two members have the same number",
        "'{0}' has the number {1} of {2}",
        "The number is the member's place in the array that the value is written as.");

    public static readonly DiagnosticDescriptor MemberWithoutNumber = Error(
        "TANGO023", "A member has no number",
        "'{0}' has no [Key] and would be lost when the value is stored",
        "Give every field and auto-property a [Key], or [IgnoreMember] if it is not to be stored.");

    public static readonly DiagnosticDescriptor UncoveredRead = Warning(
        "TANGO024", "A keyed operation depends on more than its key",
        "The outcome of '{0}' depends on all of '{1}', but its [VersionKey] covers one key",
        "A transaction does not abort when other keys are written, and commits on an answer that is no longer true. "
        + "Drop the [VersionKey], or look only at what it names.");

    public static readonly DiagnosticDescriptor MutableArgument = Warning(
        "TANGO025", "An object holds values that can be changed in place",
        "'{0}' holds '{1}', which can be changed in place{2}: every read copies it",
        "A reader that changed the view's own value would change the state of its replica alone, so that each reader "
        + "gets a copy. Immutable types are shared.");

    public static readonly DiagnosticDescriptor Unsupported = Error(
        "TANGO026", "A value uses what Tango does not write",
        "'{0}' uses {1}, which generated formatters do not support",
        "Tango writes [MessagePackObject] types as arrays by their [Key] numbers, without callbacks and formatters "
        + "named by attributes: every replica, and every later version, must read the same value from the same bytes.");

    public static readonly DiagnosticDescriptor UnclaimedPlace = Warning(
        "TANGO027", "An object holds places that it does not claim",
        "'{0}' holds places in the log: '{1}' must implement ITangoIndex, or the log is trimmed of what stands there",
        "The log keeps what the LowestPlace of an ITangoIndex names. Other places can be read until the next trim.");

    public static readonly DiagnosticDescriptor KeyComparer = Warning(
        "TANGO028", "State compares keys in another way than transactions",
        "'{0}' compares keys by '{1}', but a [VersionKey] is compared by its bytes",
        "A transaction that read one spelling of a key does not abort when another spelling of it is written, and the "
        + "update is lost. Give the operations one spelling, and the collection its default comparer or "
        + "StringComparer.Ordinal.");

    public static readonly DiagnosticDescriptor ContextShape = Error(
        "TANGO030", "A Tango context has the wrong shape",
        "'{0}' cannot be a Tango context: {1}",
        "The class derives directly from TangoContext and is partial; the generator writes its constructor, OpenAsync "
        + "and the bodies of its partial properties.");

    public static readonly DiagnosticDescriptor ContextMember = Error(
        "TANGO031", "A member of a Tango context has the wrong shape",
        "'{0}' cannot be an object of the context: {1}",
        "Declare 'public partial TangoDictionary<string, Order> Orders { get; }'. The object is found in the log by "
        + "the property's name, or by that of its [ObjectName].");

    public static readonly DiagnosticDescriptor DroppedOutcome = Warning(
        "TANGO032", "The outcome of a transaction is dropped",
        "Look at the outcome of the transaction: it may have aborted, or be in doubt",
        "Call ThrowIfNotCommitted() on it, or look at what it is. '_ = await ...' says that any outcome will do.");

    public static readonly DiagnosticDescriptor ShippedMissing = AtEnd(
        "TANGO040", "What has shipped is missing",
        "'{0}' has shipped and is not in the code",
        "Logs hold what was written by it. Restore it, with the same number; or write '*REMOVED* ' before its line in "
        + "TangoObjects.Shipped.txt when no log holds it any more.");

    public static readonly DiagnosticDescriptor ShippedChanged = Error(
        "TANGO041", "What has shipped is changed",
        "'{0}' has shipped as '{1}'",
        "Logs hold records and checkpoints in the old form. Keep it, and add what is new under a new number. If only "
        + "a name is new, change the line in TangoObjects.Shipped.txt.");

    public static readonly DiagnosticDescriptor RemovedUsedAgain = Error(
        "TANGO042", "What was removed is used again",
        "'{0}' takes the place of '{1}'",
        "Old records name the removed one by this number or name: they would change their meaning. Take a new one.");

    public static readonly DiagnosticDescriptor NotShipped = Warning(
        "TANGO043", "What logs will hold is not listed",
        "TangoObjects.Shipped.txt has no line: {0}",
        "Add the line when you ship. From then on a change that old logs could not be read with is an error.");

    public static readonly DiagnosticDescriptor ShippedLine = AtEnd(
        "TANGO044", "A line of TangoObjects.Shipped.txt is wrong",
        "'{0}': {1}",
        "A line is what TANGO043 says, with '*REMOVED* ' before it when it was removed; or it begins with '#'.");

    private static DiagnosticDescriptor AtEnd(string id, string title, string message, string description) =>
        new(id, title, message, Category, DiagnosticSeverity.Error, isEnabledByDefault: true, description,
            Help + id.ToLowerInvariant(), WellKnownDiagnosticTags.CompilationEnd);

    private static DiagnosticDescriptor Error(string id, string title, string message, string description) =>
        new(id, title, message, Category, DiagnosticSeverity.Error, isEnabledByDefault: true, description,
            Help + id.ToLowerInvariant());

    private static DiagnosticDescriptor Warning(string id, string title, string message, string description) =>
        new(id, title, message, Category, DiagnosticSeverity.Warning, isEnabledByDefault: true, description,
            Help + id.ToLowerInvariant());
}
